# SPDX-License-Identifier: GPL-2.0
"""What the demo tells: the table, the files for programs."""

import json
import sys


def table(results, limit):
    """The table, as lines."""
    lines = ['%-30s %4s %8s %9s %15s %17s' % (
        '', 'QPs', 'MB/s', 'of limit', 'sequence errors', 'completion errors')]
    for r in results:
        lines.append('%-30s %4d %8.2f %8.0f%% %15d %17d' % (
            r.name, r.qps, r.MBps, 100 * r.MBps / limit if limit else 0, r.seq_err, r.cq_errors))
    return lines


def write_json(path, what):
    """A file for programs."""
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(what, f, indent=1)
        f.write('\n')


def fail(text):
    """End, with one line that says why."""
    print('demo: %s' % text, file=sys.stderr)
    sys.exit(1)
