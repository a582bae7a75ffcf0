# SPDX-License-Identifier: GPL-2.0
"""The host's end of the line to a machine's init. The frames are described in agent.c."""

import os
import select
import signal
import struct
import threading
import time

from .errors import CommandError, CommandTimeout, LabError, MachineDied

HEADER = struct.Struct('<B3xII')
COOKIE_LEN = 16
READ_SIZE = 1 << 20


class Job:
    """A command that runs, or ran, in a machine. `out` and `err` grow while it runs."""

    def __init__(self, agent, number, cmd):
        self._agent = agent
        self.id = number
        self.cmd = cmd
        self.where = agent.name
        self.rc = None          # as a shell has it: 128 + the signal that killed it
        self._data = {'o': bytearray(), 'e': bytearray()}

    @property
    def out(self):
        """What it wrote to stdout, so far, as text."""
        return self._data['o'].decode('utf-8', 'replace')

    @property
    def err(self):
        """What it wrote to stderr, so far, as text."""
        return self._data['e'].decode('utf-8', 'replace')

    def lines(self):
        """The complete lines of stdout, so far."""
        return self.out.split('\n')[:-1]

    def kill(self, sig=signal.SIGTERM):
        """Send a signal to the job's process group. Without effect when it has ended."""
        self._agent.send('k', self.id, struct.pack('<i', sig))

    def running(self):
        """Whether it still runs."""
        self._agent.check()
        return self.rc is None

    def wait(self, timeout=30, check=True):
        """Wait for its end; when that takes longer than `timeout` seconds, kill it and raise.

        Returns the job, or raises CommandError when it failed and `check` is set.
        """
        timeout *= self._agent.timeout_scale
        if not self._agent.wait_for(lambda: self.rc is not None, timeout):
            self.kill(signal.SIGKILL)
            self._agent.wait_for(lambda: self.rc is not None, 10)
            raise CommandTimeout(self, 'took longer than %g s' % timeout)
        if check and self.rc:
            raise CommandError(self, 'exited with %d' % self.rc)
        return self

    def _frame(self, kind, data):
        if kind != 'x':
            self._data[kind] += data
            return
        status, = struct.unpack('<i', data)
        self.rc = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


class Request:
    """A request that is answered with data and an errno."""

    def __init__(self):
        self.data = bytearray()
        self.errno = None

    def _frame(self, kind, data):
        if kind == 'd':
            self.data += data
        else:
            self.errno, = struct.unpack('<i', data)


class Agent:
    """Speaks with one machine's init over a connected socket."""

    def __init__(self, name, sock, on_record, last_words, timeout_scale=1):
        self.name = name
        self.timeout_scale = timeout_scale
        self.greeting = None
        self._sock = sock
        self._on_record = on_record
        self._last_words = last_words
        self._changed = threading.Condition()
        self._sending = threading.Lock()
        self._waiting = {}          # id -> Job or Request
        self._last_id = 0
        self._cookie = None         # set: everything up to the answer to this hello is stale
        self._buf = bytearray()
        self._lost = None           # why nothing will come any more
        threading.Thread(target=self._reader, daemon=True).start()

    # Sending.

    def send(self, kind, number, data=b''):
        """Send one frame."""
        self.check()
        with self._sending:
            try:
                self._sock.sendall(HEADER.pack(ord(kind), number, len(data)) + data)
            except OSError as e:
                raise MachineDied('%s: its agent is gone: %s' % (self.name, e)) from e

    def greet(self, timeout):
        """Say hello to an init that comes up; returns its release, boot id and taint."""
        with self._changed:
            for waiting in self._waiting.values():
                if isinstance(waiting, Job) and waiting.rc is None:
                    waiting.rc = 255
            self._waiting.clear()
            self._cookie = os.urandom(COOKIE_LEN)
            self.greeting = None
            self._changed.notify_all()
        self.send('h', 0, self._cookie)
        if not self.wait_for(lambda: self.greeting, timeout):
            raise LabError('%s: did not come up within %g s' % (self.name, timeout))
        return self.greeting

    def start(self, cmd):
        """Start a shell command; returns its Job."""
        return self._ask('s', cmd.encode(), lambda n: Job(self, n, cmd))

    def put(self, path, data, mode, timeout=60):
        """Write a file."""
        self._request('p', struct.pack('<I', mode) + path.encode() + b'\0' + data, timeout, path)

    def get(self, path, timeout=60):
        """Read a file."""
        return bytes(self._request('g', path.encode(), timeout, path).data)

    def sync_log(self, timeout=60):
        """Returns when all that the kernel log held has come to the host."""
        self._request('l', b'', timeout, '/dev/kmsg')

    def _ask(self, kind, data, make):
        with self._changed:
            self._last_id += 1
            number = self._last_id
            entry = self._waiting[number] = make(number)
        self.send(kind, number, data)
        return entry

    def _request(self, kind, data, timeout, what):
        request = self._ask(kind, data, lambda n: Request())
        if not self.wait_for(lambda: request.errno is not None, timeout * self.timeout_scale):
            raise LabError('%s: no answer about %s' % (self.name, what))
        if request.errno:
            raise OSError(request.errno, os.strerror(request.errno), '%s:%s' % (self.name, what))
        return request

    # Waiting.

    def check(self):
        """Raise when the machine is gone."""
        if self._lost:
            raise MachineDied('%s: %s%s' % (self.name, self._lost, self._last_words()))

    def wait_for(self, predicate, timeout):
        """Wait until the predicate holds; False when `timeout` seconds have passed."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while not predicate():
                self.check()
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def close(self):
        """Let go of the line."""
        self._lost = self._lost or 'has been shut down'
        self._sock.close()

    # Receiving, in a thread of its own.

    def _reader(self):
        why = 'QEMU has ended'
        try:
            while True:
                select.select([self._sock], [], [])
                data = self._sock.recv(READ_SIZE)
                if not data:
                    break
                with self._changed:
                    self._buf += data
                    self._parse()
                    self._changed.notify_all()
        except (OSError, ValueError):
            pass        # closed, by us or by QEMU
        with self._changed:
            self._lost = self._lost or why
            self._changed.notify_all()

    def _parse(self):
        if self._cookie and not self._resync():
            return
        pos = 0
        while len(self._buf) - pos >= HEADER.size:
            kind, number, length = HEADER.unpack_from(self._buf, pos)
            end = pos + HEADER.size + length
            if end > len(self._buf):
                break
            self._dispatch(chr(kind), number, bytes(self._buf[pos + HEADER.size:end]))
            pos = end
        del self._buf[:pos]

    def _resync(self):
        """Drop what an earlier boot left, up to the answer to the newest hello."""
        at = self._buf.find(self._cookie)
        if at < HEADER.size:
            return False
        del self._buf[:at - HEADER.size]
        self._cookie = None
        return True

    def _dispatch(self, kind, number, data):
        if kind == 'm':
            self._on_record(data)
        elif kind == 'H':
            release, boot_id, taint = data[COOKIE_LEN:].decode().split()
            self.greeting = (release, boot_id, int(taint))
        else:
            entry = self._waiting.get(number)
            if entry:
                entry._frame(kind, data)  # pylint: disable=protected-access
