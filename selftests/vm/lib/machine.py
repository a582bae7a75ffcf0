# SPDX-License-Identifier: GPL-2.0
"""One virtual machine."""

import ctypes
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import time

from . import accel, splat
from .agent import Agent
from .errors import LabError, MachineDied, PollTimeout, SplatError
from .net import Net
from .qmp import Qmp

BOOT_TIMEOUT = 120
KERNEL_ARGS = (
    'console=ttyS0 loglevel=5 panic=-1 net.ifnames=0 '
    # What only costs time when every instruction is emulated.
    'mitigations=off init_on_alloc=0 audit=0 apparmor=0 random.trust_cpu=on '
    # One TSC serves all virtual CPUs; any other clock is an exit to QEMU at each read.
    'tsc=reliable no_timer_check '
    # Self-tests and keys that cost seconds then and that no test here needs.
    'cryptomgr.notests=1 initcall_blacklist=init_encrypted,crypto_kdf108_init,jent_mod_init'
)
# Linux enables code by an int3 that it takes away again. QEMU before 8.1 may run it afterwards, when another virtual
# CPU met it, and the kernel, which does not know it any more, dies.
EMULATOR_FAULT = 'int3: 0000'
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def _die_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Machine(Net):
    """A machine of the lab. Made by Lab.machine(); the network side is in Net."""

    def __init__(self, lab, name, number, nics, smp, mem, mtu, append, nic):
        self.lab = lab
        self.name = name
        self.number = number
        self.nics = nics
        self.smp = smp
        self.mem = mem
        self.mtu = mtu
        self.append = append
        self.nic = nic
        self.boots = 0
        self.kernel_log = []
        self.release = None
        self.taint = 0
        self.wires = {}             # nic -> our end of its cable, until QEMU has it
        self.allowed = []
        self.allowed_taint = ''
        self.agent = self.qmp = None
        self._qemu = None
        self._log_file = None
        self._checked = 0           # how much of kernel_log has been looked at
        self._stopped = False
        self.off = False
        super().__init__()

    def path(self, suffix):
        """The path of one of this machine's files in the lab's directory."""
        return os.path.join(self.lab.workdir, self.name + suffix)

    # Its life.

    def launch(self):
        """Start QEMU; `wait_up` waits for what is in it."""
        agent, agent_end = socket.socketpair()
        qmp, qmp_end = socket.socketpair()
        ends = [agent_end, qmp_end] + list(self.wires.values())
        fds = [s.fileno() for s in ends]
        with open(self.path('.qemu'), 'wb') as out:
            self._qemu = subprocess.Popen(
                self._command(agent_end.fileno(), qmp_end.fileno()), pass_fds=fds,
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=_die_with_parent)
        for end in ends:
            end.close()
        self.wires = {}
        self._log_file = open(self.path('.log'), 'w', encoding='utf-8', errors='replace')
        self.agent = Agent(self.name, agent, self._record, self._last_words, self.lab.timeout_scale)
        try:
            self.qmp = Qmp(self.name, qmp)
        except MachineDied as e:
            raise MachineDied(str(e) + self._last_words()) from e

    def wait_up(self):
        """Wait until its agent answers."""
        try:
            self.release, _, taint = self.agent.greet(BOOT_TIMEOUT * self.lab.timeout_scale)
        except MachineDied:
            raise
        except LabError as e:
            raise LabError(str(e) + self._last_words()) from e
        if not self.boots:
            self.taint = taint
        self.boots += 1
        if self.lab.modules:
            self.run('depmod -a')

    def reset(self):
        """Pull and plug the power, and wait until it has booted again.

        Until then its NICs are dead, but its peers see no loss of carrier: cut the
        cable for that.
        """
        if not self._stopped:
            self.check_log()
            self.stop()
        self._reboot(lambda: self.qmp.execute('system_reset'))

    def reboot(self):
        """Ask the kernel for a reboot, and wait until it has booted again."""
        self.check_log()
        self._reboot(lambda: self.agent.send('b', 0))

    def _reboot(self, trigger):
        self.qmp.execute('set-action', reboot='reset')
        mark = self.qmp.mark()
        trigger()
        self.qmp.wait_event('RESET', mark)
        self._silence(True)
        self.qmp.execute('cont')
        self._stopped = False
        self.wait_up()
        # Not before: the BIOS resets the machine once more.
        self.qmp.execute('set-action', reboot='shutdown')
        self._silence(False)

    def poweroff(self):
        """Ask the kernel to end it all, and wait until it has. The machine is of no use after that."""
        self.finish()
        self.agent.send('q', 0)
        try:
            self._qemu.wait(60 * self.lab.timeout_scale)
        except subprocess.TimeoutExpired:
            raise LabError('%s: does not power off%s' % (self.name, self._last_words())) from None
        self.off = True

    def stop(self):
        """Suspend the machine: all its virtual CPUs stand still.

        What is sent to it meanwhile is lost; its peers see no loss of carrier.
        """
        self.qmp.execute('stop')
        self._silence(True)
        self._stopped = True

    def cont(self):
        """Resume a suspended machine."""
        self._silence(False)
        self.qmp.execute('cont')
        self._stopped = False

    def _silence(self, silent):
        # Without this a cable to a machine that does not read fills, and blocks its peer's NIC.
        # A machine that stands still does not notice that its carrier was gone.
        for nic in range(self.nics):
            if not silent and nic in self.unplugged:
                continue
            self.qmp.execute('set_link', name='n%d' % nic, up=not silent)

    def set_link(self, nic, up):
        """Plug or pull this end of a NIC's cable: the NIC loses its carrier."""
        self.qmp.execute('set_link', name='n%d' % nic, up=up)
        self.unplugged.discard(nic)
        if not up:
            self.unplugged.add(nic)

    def alive(self):
        """Whether its QEMU runs."""
        return self._qemu is not None and self._qemu.poll() is None

    def close(self):
        """End its QEMU."""
        if self._qemu is None:
            return
        if self.alive():
            self._qemu.terminate()
            try:
                self._qemu.wait(5)
            except subprocess.TimeoutExpired:
                self._qemu.kill()
                self._qemu.wait()
        for part in (self.agent, self.qmp, self._log_file):
            if part:
                part.close()

    def _text(self, suffix):
        try:
            with open(self.path(suffix), encoding='utf-8', errors='replace') as f:
                return f.read()
        except FileNotFoundError:
            return ''

    def emulator_fault(self):
        """Whether QEMU is why its kernel died."""
        return EMULATOR_FAULT in self._text('.console')

    def _last_words(self):
        text = ' (a fault of QEMU before 8.1: run it again)' if self.emulator_fault() else ''
        for suffix in ('.qemu', '.console'):
            tail = self._text(suffix)[-3000:].strip()
            text += '\n%s ends:\n%s' % (self.path(suffix), tail) if tail else ''
        return text

    def _command(self, agent_fd, qmp_fd):
        cmd = ['qemu-system-x86_64', '-name', self.name, '-nodefaults', '-no-user-config',
               '-display', 'none', '-M', 'q35,usb=off,vmport=off', '-no-reboot',
               *accel.options(self.lab.kernel.vmlinuz),
               '-smp', str(self.smp), '-m', str(self.mem),
               '-kernel', self.lab.kernel.vmlinuz, '-initrd', self.lab.initrd,
               '-append', '%s %s' % (KERNEL_ARGS, self.append),
               '-serial', 'file:' + self.path('.console'),
               '-chardev', 'socket,id=qmp,fd=%d' % qmp_fd, '-mon', 'chardev=qmp,mode=control',
               '-device', 'virtio-serial-pci',
               '-chardev', 'socket,id=agent,fd=%d' % agent_fd,
               '-device', 'virtserialport,chardev=agent,name=rocepath.agent']
        for nic in range(self.nics):
            cmd += self._nic(nic)
        return cmd

    def _nic(self, nic):
        wire = self.wires.get(nic)
        if wire:
            backend = 'stream,id=n%d,server=off,addr.type=fd,addr.str=%d' % (nic, wire.fileno())
        else:
            backend = 'hubport,id=n%d,hubid=%d' % (nic, nic)
        device = '%s,netdev=n%d,mac=%s,romfile=' % (self.nic, nic, self.mac(nic))
        if self.mtu:
            device += ',host_mtu=%d' % self.mtu
        return ['-netdev', backend, '-device', device]

    # Commands and files.

    def spawn(self, cmd, ns=None):
        """Start a shell command (bash), in network namespace `ns` if given; returns a Job."""
        if ns:
            cmd = 'exec ip netns exec %s bash -c %s' % (ns, shlex.quote(cmd))
        return self.agent.start(cmd)

    def run(self, cmd, timeout=30, check=True, ns=None):
        """Run a shell command and wait for it. Returns its Job: .out, .err, .rc.

        Raises CommandError when it exits with something else than 0 and `check` is set,
        CommandTimeout when it had to be killed, MachineDied when the machine is gone.
        """
        return self.spawn(cmd, ns).wait(timeout, check)

    def json(self, cmd, timeout=30, ns=None):
        """Run a command that prints JSON; returns what it means."""
        return json.loads(self.run(cmd, timeout, ns=ns).out or 'null')

    def put(self, what, path, mode=None):
        """Copy a local file, or bytes, to `path` in the machine."""
        if isinstance(what, bytes):
            data = what
        else:
            with open(what, 'rb') as f:
                data = f.read()
            mode = os.stat(what).st_mode & 0o777 if mode is None else mode
        self.agent.put(path, data, 0o755 if mode is None else mode)

    def get(self, path):
        """The bytes of a file in the machine."""
        return self.agent.get(path)

    def poll(self, what, timeout=10, why=None, interval=0.05):
        """Wait for a state: until `what`, a command, exits with 0, or, a callable, returns true.

        Returns the Job, or what the callable returned. Raises PollTimeout.
        """
        deadline = time.monotonic() + timeout * self.lab.timeout_scale
        while True:
            if callable(what):
                state = value = what()
            else:
                value = self.run(what, timeout=max(timeout, 30), check=False)
                state = value.rc == 0
            if state:
                return value
            if time.monotonic() > deadline:
                if not callable(what):
                    why = (why or '`%s`' % what) + ': %s%s' % (value.out, value.err)
                raise PollTimeout('%s: not within %g s: %s' % (
                    self.name, timeout * self.lab.timeout_scale, why or what))
            time.sleep(interval)

    def clock(self):
        """The machine's monotonic clock, in seconds, as the sampler uses it."""
        return float(self.get('/proc/uptime').split()[0])

    # Its kernel's log.

    def _record(self, data):
        head, _, text = data.decode('utf-8', 'replace').partition(';')
        usec = head.split(',')[2] if head.count(',') >= 2 else '0'
        line = '[%12.6f] %s' % (int(usec) / 1e6 if usec.isdigit() else 0, text.split('\n')[0])
        self.kernel_log.append(line)
        self._log_file.write(line + '\n')
        self._log_file.flush()

    def log(self):
        """The lines of the kernel log, of all boots, up to now."""
        self.agent.sync_log()
        return list(self.kernel_log)

    def allow(self, pattern, taint=''):
        """Expect splats in lines that match the pattern, and these letters of taint."""
        re.compile(pattern)
        self.allowed.append(pattern)
        self.allowed_taint += taint

    def check_log(self):
        """Raise SplatError when the kernel log has a splat that was not seen before."""
        lines = self.log()
        new, self._checked = lines[self._checked:], len(lines)
        found = splat.find(new, self.allowed)
        if found:
            raise SplatError('%s: its kernel log has\n%s' % (self.name, '\n'.join(found[:40])))

    def finish(self):
        """All that a kernel may complain about at the end: leaks, taint, the log. Raises SplatError."""
        if self._stopped:
            self.cont()
        problems = []
        try:
            self._kmemleak(problems)
            now = int(self.get('/proc/sys/kernel/tainted'))
            letters = splat.taint(self.taint, now, self.allowed_taint)
            if letters:
                problems.append('%s: tainted: %s' % (self.name, letters))
            self.check_log()
        except SplatError as e:
            problems.append(str(e))
        if problems:
            raise SplatError('\n'.join(problems))

    def _kmemleak(self, problems):
        """Scan again and again for 6 s, and at least twice: an object counts only when it is 5 s old."""
        path = '/sys/kernel/debug/kmemleak'
        if self.run('test -w %s' % path, check=False).rc:
            return
        self.run('for ((i = 0, end = SECONDS + 6; i < 2 || SECONDS < end; i++)); do echo scan >%s; done' % path,
                 timeout=120)
        found = splat.find(self.run('cat %s' % path).out.splitlines(), self.allowed)
        if found:
            with open(self.path('.kmemleak'), 'wb') as f:
                f.write(self.get(path))
            problems.append('%s: kmemleak has %d objects, see %s' % (
                self.name, len(found), self.path('.kmemleak')))
