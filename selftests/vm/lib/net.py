# SPDX-License-Identifier: GPL-2.0
"""A machine's network: shaping, soft-RoCE, counters, samples, captures."""

import ipaddress
import re

from .errors import LabError
from .sampler import Sampler

RDMA = '/sys/class/infiniband'


class Net:
    """The network side of a Machine."""

    def __init__(self):
        self.unplugged = set()      # NICs whose cable has been pulled

    def mac(self, nic):
        """The MAC of a NIC, which is ethN in the machine."""
        return '52:54:00:00:%02x:%02x' % (self.number, nic)

    def up(self, ifname, *addresses, mtu=None, ns=None):
        """Bring an interface up, with addresses ('10.0.0.1/24'), and wait for its carrier."""
        cmd = 'set -e; ip link set %s up%s\n' % (ifname, ' mtu %d' % mtu if mtu else '')
        for address in addresses:
            nodad = ' nodad' if ':' in address else ''
            cmd += 'ip addr add %s dev %s%s\n' % (address, ifname, nodad)
        self.run(cmd, ns=ns)
        self.poll(lambda: self.carrier(ifname, ns), why='carrier of %s' % ifname)

    def carrier(self, ifname, ns=None):
        """Whether an interface that is up has carrier."""
        path = '/sys/class/net/%s/carrier' % ifname
        # Reading a file takes no process, and so hardly any time.
        text = self.run('cat ' + path, ns=ns).out if ns else self.get(path).decode()
        return text.strip() == '1'

    def shape(self, ifname, rate=None, delay=None, limit=1000, loss=None, child=None, extra='', ns=None):
        """Shape what leaves by an interface, with netem: shape('eth0', '40mbit', '100us').

        `limit` is in packets, delayed ones included. `child` is a qdisc below netem ('fq').
        Called again it changes the figures without dropping the queue.
        """
        args = 'limit %d' % limit
        for key, value in (('rate', rate), ('delay', delay), ('loss', loss)):
            if value:
                args += ' %s %s' % (key, value)
        cmd = 'tc qdisc replace dev %s root handle 1: netem %s %s' % (ifname, args, extra)
        if child:
            cmd += ' && tc qdisc replace dev %s parent 1:1 handle 10: %s' % (ifname, child)
        self.run(cmd, ns=ns)

    def unshape(self, ifname, ns=None):
        """Undo `shape`."""
        self.run('tc qdisc del dev %s root' % ifname, ns=ns)

    # Soft-RoCE.

    def rxe(self, ifname, name='rxe0'):
        """Create a soft-RoCE device on an interface that is up, and wait until it is active."""
        self.run('rdma link add %s type rxe netdev %s' % (name, ifname))
        self.poll(lambda: b'ACTIVE' in self.get('%s/%s/ports/1/state' % (RDMA, name)),
                  why='%s active' % name)
        return name

    def gids(self, dev='rxe0'):
        """The GID table: index -> (GID, type)."""
        # One process for all: starting one is slow where every instruction is emulated.
        out = self.run("cd %s/%s/ports/1; grep -rsHv '^\\(0000:\\)*0000$' gids gid_attrs/types; true" % (RDMA, dev)).out
        gids, kinds = {}, {}
        for line in out.splitlines():
            path, _, value = line.partition(':')
            where, _, index = path.rpartition('/')
            (gids if where == 'gids' else kinds)[int(index)] = value
        return {i: (gids[i], kinds[i]) for i in sorted(gids) if i in kinds}

    def gid(self, dev, address, timeout=10):
        """The index of an address's RoCEv2 GID; waits for it to appear."""
        ip = ipaddress.ip_address(address.split('/')[0])
        packed = ip.packed if ip.version == 6 else bytes(10) + b'\xff\xff' + ip.packed

        def find():
            for index, (gid, kind) in self.gids(dev).items():
                if bytes.fromhex(gid.replace(':', '')) == packed and 'v2' in kind:
                    return index + 1        # 0 would be false
            return None
        return self.poll(find, timeout, 'a GID for %s on %s' % (address, dev)) - 1

    def hw_counters(self, dev='rxe0'):
        """The device's counters, as a dict of int."""
        out = self.run('cd %s/%s/ports/1/hw_counters && grep -H . *' % (RDMA, dev)).out
        pairs = (line.split(':', 1) for line in out.splitlines())
        return {name: int(value) for name, value in pairs if name != 'lifespan'}

    def sequence_errors(self, dev='rxe0'):
        """How often the device saw a PSN that it did not expect, or had to start again for one."""
        counters = self.hw_counters(dev)
        return sum(counters[name] for name in ('out_of_seq_request', 'rcvd_seq_err'))

    # Counters and samples.

    def counters(self, ifname, ns=None):
        """`ethtool -S`, as a dict of int."""
        found = {}
        for line in self.run('ethtool -S %s' % ifname, ns=ns).out.splitlines()[1:]:
            name, _, value = line.rpartition(':')
            if value.strip().lstrip('-').isdigit():
                found[name.strip()] = int(value)
        return found

    def stats(self, ifname, ns=None):
        """The interface's standard counters: rx_packets, tx_dropped, ..."""
        rows = self.json('ip -j -s link show dev %s' % ifname, ns=ns)[0]['stats64']
        return {'%s_%s' % (way, name): value for way in rows for name, value in rows[way].items()}

    def qdisc(self, ifname, ns=None):
        """The statistics of the interface's root qdisc."""
        for row in self.json('tc -j -s qdisc show dev %s' % ifname, ns=ns):
            if row.get('root'):
                return row
        raise LabError('%s: %s has no root qdisc' % (self.name, ifname))

    def sampler(self, ifnames, period_ms=10):
        """Start to sample what interfaces receive; .stop() returns the Samples."""
        return Sampler(self, [ifnames] if isinstance(ifnames, str) else list(ifnames), period_ms)

    def capture(self, ifname, path, expression='', snaplen=0, ns=None):
        """Start tcpdump into a file in the machine, and wait until it listens; returns its Job.

        End it with .kill(signal.SIGINT) and .wait(check=False), then `get` the file.
        """
        job = self.spawn('exec tcpdump -Z root -U -s %d -i %s -w %s %s' % (snaplen, ifname, path, expression), ns)
        self.poll(lambda: 'listening on' in job.err or job.rc is not None, why='tcpdump')
        if job.rc is not None:
            job.wait()
        return job

    def listens(self, port):
        """Whether something listens on a TCP port."""
        entry = re.compile(r'^ *\d+: [0-9A-F]+:%04X [0-9A-F]+:0000 0A ' % port, re.M)
        return any(entry.search(self.get('/proc/net/' + name).decode()) for name in ('tcp', 'tcp6'))

    def source_of(self, address):
        """The address that this machine uses towards another."""
        return self.json('ip -j route get %s' % address.split('/')[0])[0]['prefsrc']
