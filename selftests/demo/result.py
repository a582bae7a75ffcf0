# SPDX-License-Identifier: GPL-2.0
"""What runs of perftest came to."""

from bed import finish

MARGIN = 15                 # seconds that a run may take beyond its own


class Result:
    """One or more runs of one kind: rates in MB/s of payload, and what went wrong in them."""

    def __init__(self, name, qps):
        self.name = name
        self.qps = qps
        self.rates = []
        self.seq_err = 0
        self.cq_errors = 0

    @property
    def MBps(self):  # pylint: disable=invalid-name
        """The median rate."""
        return sorted(self.rates)[len(self.rates) // 2]

    def add(self, rate, seq_err, cq_errors):
        """One more run."""
        self.rates.append(rate)
        self.seq_err += seq_err
        self.cq_errors += cq_errors

    def as_dict(self):
        """As report.json has it."""
        return {'name': self.name, 'qps': self.qps, 'MBps': round(self.MBps, 3),
                'seq_err': self.seq_err, 'cq_errors': self.cq_errors}

    def run(self, bed, tool='ib_write_bw', seconds=5):
        """One more run, to its end. A run that hangs or fails has carried nothing."""
        before = bed.sequence_errors()
        done = finish(bed.start_run(tool, self.qps, seconds), seconds + MARGIN)
        self.add(done.MBps, bed.sequence_errors() - before, done.cq_errors)
