# SPDX-License-Identifier: GPL-2.0
"""perftest between two machines."""

import re

from .errors import LabError

MIB = 1 << 20
FIRST_PORT = 18515
# 1 s. Where virtual CPUs stand still, perftest's own 14 (67 ms) pass without a loss, and QPs send
# again what was not lost.
ACK_TIMEOUT = 18
MARGIN = 1              # seconds at both ends that perftest leaves out
_ROW = re.compile(r'^\s*\d+\s+\d+(\s+\d+\.\d+)+\s*$', re.M)
_CQ_ERROR = re.compile(r'completion with error', re.I)


class PerfResult:
    """What a run of perftest came to.

    MBps        mean payload rate, in 10^6 bytes per second (perftest itself prints MiB);
                0.0 when it reported none
    iterations  messages in the measured time
    row         the numbers of the report's line, as perftest prints them
    cq_errors   completions with error, at both ends
    rc          the client's exit code, the server's if that was 0
    out         all that both have printed
    """

    def __init__(self, tool, client, server):
        self.tool = tool
        self.rc = client.rc or server.rc
        self.out = '--- client\n%s%s--- server\n%s%s' % (client.out, client.err, server.out, server.err)
        self.cq_errors = sum(len(_CQ_ERROR.findall(j.out + j.err)) for j in (client, server))
        rows = [[float(w) for w in m.group(0).split()] for m in _ROW.finditer(client.out)]
        self.row = rows[-1] if rows else []
        self.iterations = int(self.row[1]) if self.row else 0
        self.MBps = 0.0
        if self.row and tool.endswith('_bw'):
            self.MBps = self.row[3] * MIB / 1e6

    def __repr__(self):
        return '<%s %.2f MB/s, %d errors, rc %s>' % (self.tool, self.MBps, self.cq_errors, self.rc)


class Perf:
    """A run that is under way. `wait` returns its PerfResult."""

    def __init__(self, server, client, tool, seconds, check):
        self.server = server
        self.client = client
        self.tool = tool
        self.seconds = seconds
        self.check = check

    def running(self):
        """Whether the client still runs."""
        return self.client.running()

    def wait(self, timeout=None):
        """Wait for the end. With `check`, raises LabError when it failed or had errors."""
        timeout = timeout or self.seconds + 30
        self.client.wait(timeout, check=False)
        if self.client.rc and self.server.rc is None:
            self.server.kill(9)     # it would wait for ever
        self.server.wait(30, check=False)
        result = PerfResult(self.tool, self.client, self.server)
        if self.check and (result.rc or result.cq_errors or not result.row):
            raise LabError('%s failed: %s' % (self.tool, result.out[-3000:]))
        return result


class _Ports:
    """Control ports, so that runs at the same time do not meet."""

    last = FIRST_PORT - 1

    @classmethod
    def take(cls):
        """The next one."""
        cls.last = FIRST_PORT if cls.last > FIRST_PORT + 1000 else cls.last + 1
        return cls.last


def start_perf(server, client, tool='ib_write_bw', addr=None, dev='rxe0', gid=None, seconds=4,
               qps=1, size=65536, mtu=None, ack_timeout=ACK_TIMEOUT, control=None, extra='',
               check=True, before='', iterations=None):
    """Start perftest between two machines; returns a Perf.

    addr is the server's address, for the control connection (TCP) and, with rdma_cm, the data.
    control is an IPv4 address for that connection where addr is none: perftest 4.5 knows no other.
    gid is the GID index: one for both, a pair (server's, client's), or None to look for the
    server's GID of `addr`, and the client's of the same kind on the same network.
    seconds is perftest's -D; the first and the last second of it are not measured. With `iterations`
    there are so many messages instead, and _lat tools tell percentiles; seconds is what they may take.
    before is put in front of the client's command, as a program that starts it in a cgroup.
    mtu is the path MTU of the QPs; ack_timeout how long they wait for an ACK, 4.096 us * 2 ** n.
    """
    if gid is None:
        gid = (server.gid(dev, addr), client.gid(dev, client.source_of(addr)))
    if isinstance(gid, int):
        gid = (gid, gid)
    port = _Ports.take()
    args = '%s -d %s -F -p %d -u %d' % (tool, dev, port, ack_timeout)
    args += ' -n %d' % iterations if iterations else ' -D %d' % seconds
    if not iterations and seconds > 2 * MARGIN:
        args += ' -f %d' % MARGIN
    if 'atomic' not in tool:        # always 8 bytes
        args += ' -s %d' % size
    if tool.endswith('_bw') and qps != 1:
        args += ' -q %d' % qps
    if mtu:
        args += ' -m %d' % mtu
    args += ' ' + extra
    server_job = server.spawn('exec %s -x %d' % (args, gid[0]))
    server.poll(lambda: server_job.rc is not None or
                server.listens(port), why='%s listens' % tool)
    if server_job.rc is not None:
        raise LabError('%s: %s does not start: %s%s' % (server.name, tool, server_job.out, server_job.err))
    client_job = client.spawn('exec %s %s -x %d %s' % (before, args, gid[1], control or addr))
    return Perf(server_job, client_job, tool, seconds, check)


def perf(*args, timeout=None, **kwargs):
    """Run perftest to its end; arguments as start_perf, returns a PerfResult."""
    return start_perf(*args, **kwargs).wait(timeout)
