# SPDX-License-Identifier: GPL-2.0
"""KTAP, in the spirit of the kernel's tools/testing/selftests/net/lib/py."""

import sys
import time
import traceback

KSFT_PASS, KSFT_FAIL, KSFT_SKIP = 0, 1, 4


class KsftSkip(Exception):
    """Raised by a test that cannot run here."""


class KsftFail(Exception):
    """Raised by the checks below."""


def say(text):
    """A diagnostic line, or several."""
    for line in str(text).splitlines() or ['']:
        print('# ' + line, flush=True)


def skip(why):
    """End the test: it cannot run here."""
    raise KsftSkip(why)


def fail(why):
    """End the test: it failed."""
    raise KsftFail(why)


def true(value, what=''):
    """Fail unless the value is true."""
    if not value:
        fail('not true: %r %s' % (value, what))


def eq(a, b, what=''):
    """Fail unless a == b."""
    if a != b:
        fail('%r != %r %s' % (a, b, what))


def ge(a, b, what=''):
    """Fail unless a >= b."""
    if not a >= b:
        fail('%r < %r %s' % (a, b, what))


def le(a, b, what=''):
    """Fail unless a <= b."""
    if not a <= b:
        fail('%r > %r %s' % (a, b, what))


def isin(a, b, what=''):
    """Fail unless a is in b."""
    if a not in b:
        fail('%r not in %r %s' % (a, b, what))


def raises(kind, func, *args, **kwargs):
    """Fail unless calling func raises that kind of exception; returns the exception."""
    try:
        func(*args, **kwargs)
    except kind as e:
        return e
    return fail('%s did not raise %s' % (func, kind.__name__))


def _selected(test, patterns):
    return not patterns or any(p in test.__name__ for p in patterns)


def _one(number, test, args, lab):
    """Run one test, print its line, return its verdict."""
    name, begin = test.__name__, time.monotonic()
    say('%s ...' % name)
    verdict, note = KSFT_PASS, ''
    try:
        test(*args)
        if lab:
            lab.check_logs()
    except KsftSkip as e:
        verdict, note = KSFT_SKIP, ' # SKIP %s' % e
    except Exception:  # pylint: disable=broad-except
        verdict = KSFT_FAIL
        say(traceback.format_exc())
    print('%s %d %s%s' % ('not ok' if verdict == KSFT_FAIL else 'ok', number, name, note), flush=True)
    say('%s took %.1f s' % (name, time.monotonic() - begin))
    return verdict


def run(tests, args=(), lab=None, patterns=None):
    """Run tests, each called with args, print KTAP, return the exit code for main.

    With a lab, a splat fails the test that it came in, and what is found at the end of
    the lab fails a last test of its own, `lab_finish`. Words on the command line select tests.
    """
    patterns = sys.argv[1:] if patterns is None else patterns
    tests = [t for t in tests if _selected(t, patterns)]
    print('KTAP version 1\n1..%d' % (len(tests) + bool(lab)), flush=True)
    verdicts = [_one(i, test, args, lab) for i, test in enumerate(tests, 1)]
    if lab:
        def lab_finish():
            lab.finish()
        verdicts.append(_one(len(tests) + 1, lab_finish, (), None))
    counts = [verdicts.count(v) for v in (KSFT_PASS, KSFT_FAIL, KSFT_SKIP)]
    say('Totals: pass:%d fail:%d xfail:0 xpass:0 skip:%d error:0' % tuple(counts))
    if counts[1]:
        return KSFT_FAIL
    return KSFT_SKIP if counts[2] and counts[2] == len(tests) else KSFT_PASS
