# SPDX-License-Identifier: GPL-2.0
"""Two hosts in two racks of the fabric of lib/fabric.py, rdma_rxe directly on their ports, and rocepath_rdma."""

from artifacts import module, program
from lab import Lab, ksft
from lib import fabric
from lib.fabric import Fabric
from lib.genl import Family
from racks import PORTS, Racks, addresses, frame, inject, routes

KEY = bytes(range(16))
SPORT = 0xc000      # of EV 0
# A virtual CPU may stand still for tens of milliseconds.
INTERVAL_MS = 100
SETTINGS = {'probe_interval_us': INTERVAL_MS * 1000, 'holddown_ms': 500}


def rdma_racks(kernel=None, programs=(), **kwargs):
    """A lab with machines a, b and f, not started."""
    files = {'/bin/' + name: program(name) for name in ('genl', 'inject', *programs)}
    lab = Lab(kernel, files=files, **kwargs)
    lab.modules.append(module(lab.kernel, 'rocepath_rdma'))
    hosts = {name: lab.machine(name, nics=2) for name in ('a', 'b')}
    f = lab.machine('f', nics=4, smp=1)
    Fabric.cable(lab, f, hosts)
    return Racks(lab, hosts['a'], hosts['b'], f, Fabric(f, hosts))


def load(m, options='', secret=KEY):
    """The module, a key, and settings for the lab. Returns the family."""
    m.run('modprobe rocepath_rdma ' + options)
    rdma = Family(m, 'rocepath_rdma')
    rdma.do('device-set', **SETTINGS)
    if secret:
        rdma.do('key-set', id=1, secret=secret)
    return rdma


def join(m):
    """A host's first port, with rxe0 directly on it."""
    m.up(PORTS[0], *addresses(m))
    routes(m, PORTS[0])
    m.rxe(PORTS[0])


def homes(r, evs, version=4):
    """{EV: spine} that frames with the EV's source port take from a's first leaf."""
    found = {}
    for ev in evs:
        before = r.fabric.packets()
        inject(r.a, [frame(SPORT + ev, version=version)], 0, times=50)
        after = r.fabric.packets()
        found[ev] = max(fabric.SPINES, key=lambda spine: after[spine, 'a0'] - before[spine, 'a0'])
    return found


def counters(rdma):
    """Of rxe0."""
    stats = rdma.do('device-get', name='rxe0')['stats']['stat']
    return {stat['name']: stat['value'] for stat in stats}


def paths(rdma):
    """{EV: row}."""
    return {row['ev']: row for row in rdma.dump('path-get')}


def probed(m, rdma, n, timeout=30):
    """Wait until so many EVs are up and are answered from now on."""
    before = {ev: row['answered'] for ev, row in paths(rdma).items()}

    def ready():
        # Who is probed anew is counted anew.
        rows = [row for row in rdma.dump('path-get') if row['state'] == 'up' and
                not before.get(row['ev'], 0) <= row['answered'] <= before.get(row['ev'], 0) + 4]
        return len(rows) >= n
    m.poll(ready, timeout, '%d EVs answer' % n)
    ksft.say('%s: %s' % (m.name, {ev: row.get('rtt-us') for ev, row in paths(rdma).items()}))
