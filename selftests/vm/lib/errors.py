# SPDX-License-Identifier: GPL-2.0
"""What the lab raises."""


class LabError(Exception):
    """Something in the lab did not go as a test needs it."""


class CommandError(LabError):
    """A command in a machine exited with something else than 0."""

    def __init__(self, job, why):
        self.job = job
        text = '%s: `%s` %s' % (job.where, job.cmd, why)
        for name, out in (('stdout', job.out), ('stderr', job.err)):
            if out.strip():
                text += '\n%s: %s' % (name, out.strip()[-2000:])
        super().__init__(text)


class CommandTimeout(CommandError):
    """A command in a machine was killed because it took too long."""


class PollTimeout(LabError):
    """A state that was waited for did not come."""


class MachineDied(LabError):
    """A machine's QEMU ended, or the machine was reset, under what was waiting."""


class SplatError(LabError):
    """A kernel complained."""
