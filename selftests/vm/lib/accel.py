# SPDX-License-Identifier: GPL-2.0
"""How QEMU runs the machines: by KVM where that runs a stock kernel, else by emulation.

That /dev/kvm can be opened says little: inside some clouds' machines it comes from a KVM that runs
only kernels made for it, and leaves others hanging in their decompressor. So it is tried once, and
the answer kept for as long as this host is up.
"""

import functools
import os
import re
import subprocess
import tempfile

# A newest CPU, less what is slower to emulate than to do without: byte-wise string moves, wide vectors.
# And less cmpxchg16b, which QEMU 7.2 gets wrong now and then: it leaves an operand in the flags, and
# a guest whose kernel allocates memory by it, as Linux does, dies of a double fault some time later.
TCG = ['-accel', 'tcg,thread=multi', '-cpu', 'max,la57=off,-erms,-fsrm,-avx,-avx2,-cx16']
KVM = ['-accel', 'kvm', '-cpu', 'host']
# from power-on to the end of the kernel's own start, where there is no file system: a second or two
TRIAL_TIMEOUT = 15
# what QEMU says when KVM gave up, after which the machine stands still
GAVE_UP = b'KVM internal error'


def _verdict_file():
    with open('/proc/sys/kernel/random/boot_id', encoding='ascii') as f:
        boot = f.read().strip()
    return os.path.join(tempfile.gettempdir(), 'rocepath-accel-%d-%s' % (os.getuid(), boot))


def _kvm_boots(vmlinuz):
    """Whether KVM brings that kernel as far as to miss its root file system."""
    cmd = ['qemu-system-x86_64', '-nodefaults', '-no-user-config', '-display', 'none', '-M', 'q35', '-m', '256',
           '-no-reboot', *KVM, '-kernel', vmlinuz, '-append', 'console=ttyS0 panic=-1', '-serial', 'stdio']
    with subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as qemu:
        watchdog = subprocess.Popen(['sh', '-c', 'sleep %d; kill %d' % (TRIAL_TIMEOUT, qemu.pid)],
                                    start_new_session=True)
        said = b''
        for line in qemu.stdout:
            said += line
            if GAVE_UP in line:
                qemu.kill()
        qemu.wait()
        os.killpg(watchdog.pid, 15)
        watchdog.wait()
    return re.search(rb'Kernel panic - not syncing: VFS', said) is not None


@functools.lru_cache(maxsize=None)
def options(vmlinuz):
    """QEMU's options. ROCEPATH_ACCEL=kvm or =tcg decides; else KVM if it boots that kernel."""
    chosen = os.environ.get('ROCEPATH_ACCEL')
    if chosen:
        return {'kvm': KVM, 'tcg': TCG}[chosen]
    if not os.access('/dev/kvm', os.W_OK):
        return TCG
    path = _verdict_file()
    try:
        with open(path, encoding='ascii') as f:
            works = f.read() == 'kvm'
    except FileNotFoundError:
        works = _kvm_boots(vmlinuz)
        with open(path, 'w', encoding='ascii') as f:
            f.write('kvm' if works else 'tcg')
    return KVM if works else TCG
