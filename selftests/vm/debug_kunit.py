#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The unit tests of the logic in the kernel, as a KUnit suite: what the compiler for the module makes of it."""

import re
import sys

from artifacts import kunit
from lab import Lab, ksft

RESULTS = '/sys/kernel/debug/kunit/rocepath/results'


def suite(m):
    """All cases pass; none is left out."""
    m.run('modprobe rocepath_kunit', 600)
    m.run('mount -t debugfs none /sys/kernel/debug 2>/dev/null; true')
    results = m.get(RESULTS).decode()
    for line in results.splitlines():
        ksft.say(line)
    cases = re.findall(r'^ +(ok|not ok) \d+ kunit_(\w+)', results, re.M)
    ksft.ge(len(cases), 10, 'cases')
    ksft.eq([name for verdict, name in cases if verdict != 'ok'], [], 'failed')
    m.run('rmmod rocepath_kunit')


def main():
    with Lab(modules=[kunit()]) as lab:
        m = lab.machine('m', append='kunit.enable=1')
        lab.start()
        sys.exit(ksft.run([suite], (m,), lab))


if __name__ == '__main__':
    main()
