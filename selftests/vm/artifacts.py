# SPDX-License-Identifier: GPL-2.0
"""Where the things under test are: what `make` has built, by name."""

import os

from lib.initrd import BUILT

BUILD = os.environ.get('ROCEPATH_BUILD') or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), '..', '..', 'build')


def _built(path, how):
    path = os.path.abspath(os.path.join(BUILD, path))
    if not os.path.exists(path):
        raise FileNotFoundError('%s is not there: %s' % (path, how))
    return path


def module(kernel='6.12', what='rocepath'):
    """A module for a kernel: a series, 'debug', or what initrd.Kernel.find() returned.

    $ROCEPATH_MODULES is the directory where it is, if set.
    """
    name = os.path.basename(getattr(kernel, 'dir', kernel))
    name = next((built for built in BUILT if name.startswith(built)), name)
    directory = os.path.abspath(os.environ['ROCEPATH_MODULES']) if 'ROCEPATH_MODULES' in os.environ else name
    return _built('%s/%s.ko' % (directory, what), 'make module KERNEL=%s' % name)


def kunit():
    """rocepath_kunit.ko, the unit tests for the debug kernel."""
    return _built('debug/kunit/rocepath_kunit.ko', 'make check-debug')


def tool():
    """The command rocepath."""
    return _built('user/rocepath', 'make tool')


def program(name):
    """A program for tests, of selftests/vm/programs/."""
    return _built('selftests/%s' % name, 'make -C selftests')
