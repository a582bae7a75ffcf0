# SPDX-License-Identifier: GPL-2.0
"""Figures of bench.json, as text and in tables of Markdown."""


class Figures:
    """bench.json, as text."""

    def __init__(self, bench):
        self.all = bench['figures']

    def text(self, name, digits=0):
        f = self.all.get(name)
        if not f:
            return '-'
        return '%.*f (%.*f to %.*f)' % (digits, f['value'], digits, f['low'], digits, f['high'])

    def instructions(self, name):
        f = self.all.get(name, {})
        return '%.0f' % f['instructions'] if f.get('instructions') else ''

    def told_apart(self, name, other):
        """'~' if they are not."""
        a, b = self.all.get(name), self.all.get(other)
        return '~' if a and b and a['low'] <= b['high'] and b['low'] <= a['high'] else ''


def table(head, rows):
    lines = ['| ' + ' | '.join(head) + ' |', '|' + '---|' * len(head)]
    return '\n'.join(lines + ['| ' + ' | '.join(row) + ' |' for row in rows]) + '\n'
