# SPDX-License-Identifier: GPL-2.0
"""Growth curves, out of the figures growth/WHAT/N/OF."""

WHATS = {
    'flows': 'flows (QPs)',
    'peers': 'peers',
    'paths': 'paths to a peer',
    'rules': 'rules of the policy',
    'admitted': 'peers that XDP lets in',
    'census': 'QPs in the census',
}
GOAL = 1.5


class Curve:
    """What a packet costs in one direction, by how many there are: {n: figure}."""

    def __init__(self, figures, what, of):
        self.what, self.of = what, of
        self.points = self._points(figures, of)
        self.control = self._points(figures, of + '-control')
        self.bytes = self._points(figures, 'bytes')

    def _points(self, figures, of):
        found = {}
        for name, figure in figures.items():
            parts = name.split('/')
            if parts[:2] == ['growth', self.what] and parts[3] == of:
                found[int(parts[2])] = figure
        return dict(sorted(found.items()))

    def ends(self):
        return min(self.points), max(self.points)

    def grown(self):
        """From one end to the other."""
        one, all_ = self.ends()
        return self.points[all_]['value'] / self.points[one]['value']

    def beyond(self):
        """The same without what the control grew by: it is all caches."""
        one, all_ = self.ends()
        if not self.control:
            return self.grown()
        control = self.control[all_]['value'] - self.control[one]['value']
        return max(self.points[all_]['value'] - control, self.points[one]['value']) / self.points[one]['value']


def curves(figures):
    """All that were measured."""
    found = []
    for what in WHATS:
        for of in ('tx', 'rx', 'tc-egress', 'xdp'):
            curve = Curve(figures, what, of)
            if len(curve.points) > 1:
                found.append(curve)
    return found
