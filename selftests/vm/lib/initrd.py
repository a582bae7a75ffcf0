# SPDX-License-Identifier: GPL-2.0
"""Kernels and initramfs images: found, built once, cached."""

import hashlib
import os
import stat
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
VM_DIR = os.path.dirname(HERE)
TREE = os.path.dirname(os.path.dirname(VM_DIR))
MKINITRD = os.path.join(VM_DIR, 'mkinitrd')
KEEP_SECONDS = 7 * 86400     # how long an image that nobody uses stays


# Directories in the initramfs that are links.
LINKS = ('sbin', 'usr/bin', 'usr/sbin', 'usr/lib', 'usr/lib64', 'var/run')


def cache_dir():
    """Where everything that is made once is kept."""
    base = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    return os.environ.get('ROCEPATH_CACHE') or os.path.join(base, 'rocepath')


BUILT = ('debug', 'races')      # by scripts/debug-kernel


class Kernel:
    """A directory as scripts/kernels leaves it."""

    def __init__(self, directory):
        self.dir = directory
        self.vmlinuz = os.path.join(directory, 'vmlinuz')
        self.build = os.path.join(directory, 'build')
        with open(os.path.join(directory, 'release'), encoding='ascii') as f:
            self.release = f.read().strip()

    @property
    def debug(self):
        """Whether it is a slow kernel full of checks."""
        return os.path.basename(os.path.realpath(self.dir)).startswith(BUILT)

    @classmethod
    def find(cls, name):
        """By series ('6.12'), by directory, or 'debug' or 'races': the newest one of these in the cache."""
        if os.path.isdir(name):
            return cls(os.path.abspath(name))
        kernels = os.path.join(cache_dir(), 'kernels')
        if name in BUILT:
            found = [os.path.join(kernels, d) for d in _listdir(kernels) if d.startswith(name + '-')]
            if not found:
                raise FileNotFoundError('no %s kernel in %s: scripts/debug-kernel' % (name, kernels))
            return cls(max(found, key=os.path.getmtime))
        done = subprocess.run([os.path.join(TREE, 'scripts', 'kernels'), name],
                              stdout=subprocess.PIPE, check=True, text=True)
        return cls(done.stdout.strip())


def _listdir(path):
    return os.listdir(path) if os.path.isdir(path) else []


def base(kernel):
    """The initramfs for a kernel without a test's own files; built when it is not there."""
    inputs = subprocess.run([MKINITRD, '--inputs', kernel.dir], stdout=subprocess.PIPE, check=True,
                            text=True).stdout.split()
    key = hashlib.sha256()
    for path in inputs:
        st = os.stat(path)
        key.update(('%s %d %d\n' % (path, st.st_size, st.st_mtime_ns)).encode())
    directory = os.path.join(cache_dir(), 'initrd')
    path = os.path.join(directory, '%s-%s.cpio' % (kernel.release, key.hexdigest()[:16]))
    if not os.path.exists(path):
        os.makedirs(directory, exist_ok=True)
        print('# lab: building the initramfs for %s' % kernel.release, flush=True)
        temporary = '%s.%d' % (path, os.getpid())
        subprocess.run([MKINITRD, kernel.dir, temporary], check=True)
        os.rename(temporary, path)
    os.utime(path)
    _forget_old(directory)
    return path


def _forget_old(directory):
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        if time.time() - os.path.getmtime(path) > KEEP_SECONDS:
            os.unlink(path)


# cpio, the "newc" format. The kernel takes several archives one after the other.

def _entry(number, name, mode, data):
    name = name.encode() + b'\0'
    head = b'070701' + b''.join(b'%08X' % v for v in (
        number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0))
    out = head + name
    out += bytes(-len(out) % 4) + data
    return out + bytes(-len(data) % 4)


def archive(files):
    """A cpio archive; files: path in the machine -> (bytes, mode)."""
    out, dirs, number = b'', set(), 0x100000
    for path, (data, mode) in sorted(files.items()):
        path = path.lstrip('/')
        parts = path.split('/')
        for i in range(1, len(parts)):
            parent = '/'.join(parts[:i])
            # A link such as /sbin must not become a directory.
            if parent not in dirs and parent not in LINKS:
                number += 1
                out += _entry(number, parent, stat.S_IFDIR | 0o755, b'')
            dirs.add(parent)
        number += 1
        out += _entry(number, path, stat.S_IFREG | mode, data)
    return out + _entry(0, 'TRAILER!!!', 0, b'')


def names(path):
    """The names in a cpio archive."""
    found = set()
    with open(path, 'rb') as f:
        while True:
            head = f.read(110)
            if len(head) < 110 or head[:6] != b'070701':
                return found
            size, name_size = int(head[54:62], 16), int(head[94:102], 16)
            name = f.read(name_size)[:-1].decode()
            f.seek(-(110 + name_size) % 4, os.SEEK_CUR)
            f.seek(size + (-size % 4), os.SEEK_CUR)
            found.add(name[2:] if name.startswith('./') else name)


def libraries(path):
    """The shared libraries of a program; none for other files."""
    with open(path, 'rb') as f:
        if f.read(4) != b'\x7fELF' or path.endswith('.ko'):
            return []
    done = subprocess.run(['ldd', path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False, text=True)
    words = (w for line in done.stdout.splitlines() for w in line.split())
    return [w for w in words if w.startswith('/')]


def build(kernel, out, files, modules):
    """Write the initramfs: the base, a test's files, and its modules below lib/modules."""
    base_path = base(kernel)
    have = names(base_path)
    extra = {}

    def add(where, path):
        with open(path, 'rb') as f:
            extra[where] = (f.read(), stat.S_IMODE(os.stat(path).st_mode) | 0o444)
        for lib in libraries(path):
            if lib.lstrip('/') not in have:
                extra.setdefault(lib, (open(lib, 'rb').read(), 0o755))

    for where, what in files.items():
        if isinstance(what, bytes):
            extra[where] = (what, 0o755)
        else:
            add(where, what)
    for path in modules:
        add('/lib/modules/%s/extra/%s' % (kernel.release, os.path.basename(path)), path)
    with open(base_path, 'rb') as src, open(out, 'wb') as dst:
        while True:
            chunk = src.read(1 << 20)
            if not chunk:
                break
            dst.write(chunk)
        dst.write(archive(extra))
