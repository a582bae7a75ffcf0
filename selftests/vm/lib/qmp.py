# SPDX-License-Identifier: GPL-2.0
"""QEMU's monitor."""

import json
import threading
import time

from .errors import LabError, MachineDied


class Qmp:
    """Commands to, and events from, one QEMU."""

    def __init__(self, name, sock):
        self.name = name
        self._sock = sock
        self._changed = threading.Condition()
        self._answers = {}
        self._events = []
        self._last_id = 0
        self._gone = False
        threading.Thread(target=self._reader, daemon=True).start()
        self.execute('qmp_capabilities')

    def execute(self, command, timeout=30, **arguments):
        """Run one command and return its answer."""
        with self._changed:
            self._last_id += 1
            number = self._last_id
        message = {'execute': command, 'id': number}
        if arguments:
            message['arguments'] = arguments
        try:
            self._sock.sendall(json.dumps(message).encode() + b'\n')
        except OSError as e:
            raise MachineDied('%s: QEMU has ended' % self.name) from e
        answer = self._wait(lambda: self._answers.pop(number, None), timeout,
                            'no answer to %s' % command)
        if 'error' in answer:
            raise LabError('%s: %s: %s' % (self.name, command, answer['error']['desc']))
        return answer['return']

    def mark(self):
        """A place in the row of events, for `wait_event`."""
        return len(self._events)

    def wait_event(self, event, mark, timeout=30):
        """Wait for an event that came after the mark."""
        self._wait(lambda: event in self._events[mark:], timeout, 'no %s event' % event)

    def close(self):
        """Let go of the line."""
        self._sock.close()

    def _wait(self, predicate, timeout, why):
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                value = predicate()
                if value:
                    return value
                left = deadline - time.monotonic()
                if self._gone:
                    raise MachineDied('%s: QEMU has ended' % self.name)
                if left <= 0:
                    raise LabError('%s: %s' % (self.name, why))
                self._changed.wait(left)

    def _reader(self):
        try:
            with self._sock.makefile('rb') as lines:
                for line in lines:
                    message = json.loads(line)
                    with self._changed:
                        if 'event' in message:
                            self._events.append(message['event'])
                        elif 'id' in message:
                            self._answers[message['id']] = message
                        self._changed.notify_all()
        except (OSError, ValueError):
            pass        # closed, by us or by QEMU
        with self._changed:
            self._gone = True
            self._changed.notify_all()
