# SPDX-License-Identifier: GPL-2.0
"""A lab of virtual machines. README.md shows how it is used; lib/ has the parts.

    from lab import Lab, ksft, perf

    with Lab('6.12', modules=['rocepath.ko']) as lab:
        a, b = lab.machine('a', nics=2), lab.machine('b', nics=2)
        lab.cable(a, 0, b, 0)
        lab.cable(a, 1, b, 1)
        lab.start()
        sys.exit(ksft.run([test_ping], (a, b), lab))
"""

import fcntl
import itertools
import os
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# pylint: disable=wrong-import-position,unused-import
from lib import initrd, ksft  # noqa: E402,F401
from lib.errors import (CommandError, CommandTimeout, LabError, MachineDied,  # noqa: E402,F401
                        PollTimeout, SplatError)
from lib.machine import Machine  # noqa: E402
from lib.perf import perf, start_perf  # noqa: E402,F401

TREE = initrd.TREE
DEBUG_SCALE = 6     # a kernel with KASAN and lockdep is that much slower
BOOTS = 3           # so often machines are started that QEMU let die
CABLE_BUFFER = 4 << 20


def _own_directory(path):
    """Make a directory that no other running lab uses: path, path.2, ... Returns it and its lock."""
    path = os.path.abspath(path)
    for number in itertools.count(2):
        os.makedirs(path, exist_ok=True)
        lock = open(os.path.join(path, '.lock'), 'w', encoding='ascii')
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return path, lock
        except OSError:
            lock.close()
            path = '%s.%d' % (path if number == 2 else path.rpartition('.')[0], number)
    return None


class Cable:
    """Joins two NICs."""

    def __init__(self, a, a_nic, b, b_nic):
        self.ends = ((a, a_nic), (b, b_nic))

    def plug(self):
        """Give each machine an end, for when it is launched."""
        for (m, nic), end in zip(self.ends, socket.socketpair()):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, CABLE_BUFFER)
            m.wires[nic] = end


class Lab:
    """Machines with one kernel, and the cables between them.

    kernel    a series ('6.12'), a directory as scripts/kernels leaves it, or 'debug';
              without it $ROCEPATH_KERNEL, or 6.12
    files     what else the machines hold: path in the machine -> local path or bytes;
              shared libraries come along
    modules   local paths of kernel modules, for modprobe
    workdir   where logs go: build/vm/NAME-KERNEL, NAME being the running script's
    """

    def __init__(self, kernel=None, files=None, modules=(), workdir=None, timeout_scale=None):
        self.kernel = initrd.Kernel.find(kernel or os.environ.get('ROCEPATH_KERNEL') or '6.12')
        self.timeout_scale = timeout_scale or (
            float(os.environ.get('ROCEPATH_TIMEOUT_SCALE', 1)) * (DEBUG_SCALE if self.kernel.debug else 1))
        self.files = dict(files or {})
        self.modules = [os.fspath(m) for m in modules]
        name = os.path.splitext(os.path.basename(sys.argv[0]))[0] or 'lab'
        self.workdir, self._lock = _own_directory(workdir or os.path.join(
            TREE, 'build', 'vm', '%s-%s' % (name, os.path.basename(self.kernel.dir))))
        self.machines = []
        self.cables = []
        self.initrd = os.path.join(self.workdir, 'initrd.cpio')
        self._finished = False

    def machine(self, name, nics=0, smp=2, mem=1024, mtu=None, append='', nic='virtio-net-pci'):
        """Add a machine; before `start`.

        nics     how many NICs; they are eth0, eth1, ... there
        mtu      the largest, and the first, MTU of its NICs; without it 1500, and any can be set
        append   more kernel arguments
        nic      QEMU's name of their kind; of another one the module is to be loaded
        """
        m = Machine(self, name, len(self.machines) + 1, nics, smp, mem, mtu, append, nic)
        self.machines.append(m)
        return m

    def cable(self, a, a_nic, b, b_nic):
        """Join two NICs; before `start`."""
        for m, nic in ((a, a_nic), (b, b_nic)):
            if nic in m.wires or nic >= m.nics:
                raise LabError('%s has no free NIC %d' % (m.name, nic))
        cable = Cable(a, a_nic, b, b_nic)
        cable.plug()
        self.cables.append(cable)
        return cable

    def start(self):
        """Boot all machines at once and wait until each answers."""
        begin = time.monotonic()
        for name in os.listdir(self.workdir):
            if name.endswith(('.log', '.console', '.qemu', '.kmemleak')):
                os.unlink(os.path.join(self.workdir, name))
        initrd.build(self.kernel, self.initrd, self.files, self.modules)
        ksft.say('lab: booting %d machines, linux %s, logs in %s' % (
            len(self.machines), self.kernel.release, os.path.relpath(self.workdir)))
        for left in reversed(range(BOOTS)):
            try:
                self._boot()
                break
            except MachineDied as e:
                if not left or not any(m.emulator_fault() for m in self.machines):
                    raise
                ksft.say('lab: %s\nlab: starting again' % str(e).partition('\n')[0])
                self._unboot()
        ksft.say('lab: up after %.1f s' % (time.monotonic() - begin))

    def _boot(self):
        for m in self.machines:
            m.launch()
        for m in self.machines:
            m.wait_up()

    def _unboot(self):
        for m in self.machines:
            m.close()
        for cable in self.cables:
            cable.plug()

    def cut(self, cable):
        """Pull a cable: both NICs lose their carrier."""
        for m, nic in cable.ends:
            m.set_link(nic, False)

    def restore(self, cable):
        """Plug a cable in again."""
        for m, nic in cable.ends:
            m.set_link(nic, True)

    def _running(self):
        return [m for m in self.machines if not m.off]

    def check_logs(self):
        """Raise SplatError when a kernel has complained since it was last looked at."""
        problems = []
        for m in self._running():
            try:
                m.check_log()
            except SplatError as e:
                problems.append(str(e))
        if problems:
            raise SplatError('\n'.join(problems))

    def finish(self):
        """Look for leaks, taint and splats in all machines. Done by __exit__ when nobody did."""
        self._finished = True
        problems = []
        for m in self._running():
            try:
                m.finish()
            except LabError as e:
                problems.append(str(e))
        if problems:
            raise SplatError('\n'.join(problems))

    def _report_splats(self):
        try:
            self.check_logs()
        except LabError as e:
            ksft.say(e)

    def close(self):
        """End all machines."""
        for m in self.machines:
            m.close()
        if os.path.exists(self.initrd):
            os.unlink(self.initrd)
        self._lock.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        try:
            started = all(m.agent for m in self.machines)
            if started and kind is None and not self._finished:
                self.finish()
            elif started and kind:
                self._report_splats()
        finally:
            self.close()
