# SPDX-License-Identifier: GPL-2.0
"""What in a kernel log, or in its taint flags, means that something went wrong."""

import re

# The one list. Each is searched for in each line of the kernel log.
PATTERNS = (
    r'BUG:',
    r'WARNING:',
    r'\bOops\b',
    r'general protection',
    r'\bKASAN\b',
    r'\bKFENCE\b',
    r'\bUBSAN\b',
    r'soft lockup',
    r'hard LOCKUP',
    r'blocked for more than \d+ seconds',
    r'rcu.*(detected|self-detected|expedited) stall',
    r'possible (circular|recursive|irq) lock',
    r'inconsistent lock state',
    r'suspicious RCU usage',
    r'sleeping function called',
    r'scheduling while atomic',
    r'unregister_netdevice: waiting',
    r'refcount_t: ',
    r'ref_tracker: .*(has|leaked)',
    r'list_(add|del) corruption',
    r'Call Trace',
    r'ODEBUG: ',
    r'unreferenced object',
    r'kernel BUG at',
    r'Kernel panic',
    r'stack-protector',
    r'NETDEV WATCHDOG',
    r'hw csum failure',
)

# Lines that match the above and yet say nothing bad.
HARMLESS = (
    # KASAN and KFENCE say at boot that they are there.
    r'KernelAddressSanitizer initialized',
    r'kfence: initialized',
    r'kasan: ',
    r'\*\* +(This means|If you|administrator|NOTICE|trace_printk)',
)

_SPLAT = re.compile('|'.join('(?:%s)' % p for p in PATTERNS))
_HARMLESS = re.compile('|'.join('(?:%s)' % p for p in HARMLESS))

# Bits of /proc/sys/kernel/tainted, by their position.
TAINT = 'PFSRMBUDAWCIOELKXTNJ'
TAINT_ALLOWED = 'OEN'   # out of tree, unsigned, a KUnit test ran


# A report of KCSAN: the kernel's own races are not ours to mend.
_RACE = re.compile('BUG: KCSAN')
_RULE = re.compile('={20,}')
_OURS = re.compile(r'\[rocepath')


def _without_races_of_others(lines):
    """The lines, but for reports of races that no function of our modules has a part in."""
    report = []
    for line in lines:
        if _RACE.search(line) or report:
            report.append(line)
            if _RULE.search(line):
                if any(_OURS.search(told) for told in report):
                    yield from report
                report = []
        else:
            yield line
    yield from report if any(_OURS.search(told) for told in report) else ()


def find(lines, allowed=()):
    """The lines that are splats and match none of the allowed patterns."""
    return [line for line in _without_races_of_others(lines)
            if _SPLAT.search(line) and not _HARMLESS.search(line)
            and not any(re.search(p, line) for p in allowed)]


def taint(before, now, allowed=''):
    """The letters of the taint flags that are new and not allowed."""
    new = now & ~before
    return ''.join(TAINT[i] if i < len(TAINT) else '?' for i in range(new.bit_length())
                   if new >> i & 1 and (i >= len(TAINT) or TAINT[i] not in TAINT_ALLOWED + allowed))
