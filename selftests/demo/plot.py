# SPDX-License-Identifier: GPL-2.0
"""Throughput over time, as a picture: gnuplot draws it from files that it leaves beside it."""

import os
import subprocess

from progress import rates

LEAD = 1.5              # seconds shown before the cut
TAIL = 3.5              # and after the repair
WINDOW = 0.05
PORT_COLOURS = ('#d98200', '#2f9e77', '#b0568f', '#8a8a1f')

HEAD = """\
set terminal pngcairo size 1200,760 font 'DejaVu Sans,11' background '#ffffff'
set output '{png}'
set multiplot
set border 3 lc rgb '#555555'
set tics nomirror textcolor rgb '#333333'
set grid ytics lc rgb '#dddddd' lw 1 dt 1
set style fill solid 0.22 noborder
set xrange [{left:.3f}:{right:.3f}]
set yrange [0:{top:.2f}]
set ytics {step}
set lmargin at screen 0.075
set rmargin at screen 0.935
set key off
set ylabel 'MB/s of payload' offset 1
set label 100 '{title}' at screen 0.075,0.965 left font ',15'
set label 101 'filled: payload that reached memory; thin: what arrived on' at screen {legend:.3f},0.962 right font ',10' textcolor rgb '#555555'
{ports}
"""

PANEL = """\
set tmargin at screen {tmargin}
set bmargin at screen {bmargin}
{xaxis}
set label 1 '{name}' at graph 0,1.055 left font ',13' textcolor rgb '{colour}' front
set arrow 1 from 0,graph 0 to 0,graph 1 nohead lc rgb '#c0392b' lw 1.5 dt 2 front
set label 2 'cable of {ifname} pulled' at 0.03,graph 0.93 left font ',10' textcolor rgb '#c0392b' front
set arrow 2 from {repaired:.3f},graph 0 to {repaired:.3f},graph 1 nohead lc rgb '#27864a' lw 1.5 dt 2 front
set label 3 'plugged in again' at {repaired:.3f}+0.03,graph 0.93 left font ',10' textcolor rgb '#27864a' front
set label 4 '{note}' at 0.03,graph 0.845 left font ',10' textcolor rgb '#333333' front
set label 5 'one port' at graph 1.006,first {one:.3f} left font ',9' textcolor rgb '#777777' front
set label 6 '{ports} ports' at graph 1.006,first {limit:.3f} left font ',9' textcolor rgb '#777777' front
plot {one:.3f} lc rgb '#999999' dt 3 lw 1, {limit:.3f} lc rgb '#999999' dt 3 lw 1, \\
     '{data}' using 1:2 with filledcurves x1 lc rgb '{colour}', \\
     {lines}, \\
     '{data}' using 1:2 with lines lc rgb '{colour}' lw 2
"""

# gnuplot puts the x axis below the lower panel only.
X_NONE = "set format x ''\nset xlabel ''\nset xtics 0.5"
X_LOW = "set format x '%g'\nset xlabel 'seconds since the cable was pulled, by the clock of the receiving machine'"


def _write(path, cut):
    """Columns: time since the cut, payload rate, the rate on each port; MB/s."""
    payload = rates(cut.written, WINDOW)
    rows = [(t, {name: counted[name][1] for name in cut.samples.ifnames}) for t, counted in cut.samples.rows]
    with open(path, 'w', encoding='ascii') as f:
        f.write('# seconds payload_MBps %s\n' % ' '.join(cut.samples.ifnames))
        back = int(WINDOW / 0.01)
        at = 0
        for t, per_second in payload:
            while at + 1 < len(rows) and rows[at][0] < t + WINDOW / 2:
                at += 1
            first = rows[max(at - back, 0)]
            span = rows[at][0] - first[0]
            ports = [(rows[at][1][n] - first[1][n]) / span / 1e6 if span else 0 for n in cut.samples.ifnames]
            f.write('%.3f %.4f %s\n' % (t - cut.cut_at, per_second / 1e6, ' '.join('%.4f' % p for p in ports)))


def _note(cut):
    """What to read from a panel."""
    return 'longest gap %.0f ms, %d completion errors' % (cut.gap_ms, cut.cq_errors)


def _panel(cut, data, colour, tmargin, bmargin, xaxis, one, limit, top):  # pylint: disable=too-many-arguments
    lines = ', '.join("'%s' using 1:%d with lines lc rgb '%s' lw 1" % (data, 3 + i, PORT_COLOURS[i])
                      for i in range(len(cut.samples.ifnames)))
    return PANEL.format(name=cut.name, data=data, colour=colour, tmargin=tmargin, bmargin=bmargin,
                        xaxis=xaxis, ifname=cut.ifname, repaired=cut.repaired_at - cut.cut_at,
                        note=_note(cut), one=one, limit=limit, top=top, lines=lines,
                        ports=len(cut.samples.ifnames))


def draw(out, ours, theirs, one_port):
    """Write cut.png, and the files that it is made of, to the directory `out`.

    ours and theirs are Cuts; one_port is the rate of one port in MB/s.
    """
    limit = one_port * len(ours.samples.ifnames)
    top = limit * 1.42
    _write(os.path.join(out, 'cut-rocepath.dat'), ours)
    _write(os.path.join(out, 'cut-bonding.dat'), theirs)
    legend = 0.985 - 0.045 * len(ours.samples.ifnames)
    ports = '\n'.join("set label %d '%s' at screen %.3f,0.962 left font ',11' textcolor rgb '%s'" % (
        102 + i, name, legend + 0.010 + 0.045 * i, PORT_COLOURS[i]) for i, name in enumerate(ours.samples.ifnames))
    script = HEAD.format(
        png='cut.png', left=-LEAD, right=ours.repaired_at - ours.cut_at + TAIL, top=top,
        step=1 if limit < 8 else 2, legend=legend, ports=ports,
        title='A cable is pulled under full load: one RoCE queue pair')
    script += _panel(ours, 'cut-rocepath.dat', '#1f5fa8', 0.885, 0.53, X_NONE, one_port, limit, top)
    script += 'unset label\nunset arrow\n'
    script += _panel(theirs, 'cut-bonding.dat', '#7a4a1e', 0.455, 0.10, X_LOW, one_port, limit, top)
    script += 'unset multiplot\n'
    with open(os.path.join(out, 'cut.gp'), 'w', encoding='utf-8') as f:
        f.write(script)
    subprocess.run(['gnuplot', 'cut.gp'], cwd=out, check=True)
    return os.path.join(out, 'cut.png')
