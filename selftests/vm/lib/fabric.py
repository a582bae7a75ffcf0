# SPDX-License-Identifier: GPL-2.0
"""A leaf-spine fabric of real Linux routers, each in a network namespace of one machine.

      a                       s0  s1  s2  s3                       b
      |-- eth0 ---- a0 ------- each leaf to each ------- b0 ---- eth0 --|
      |             || peer link    spine         peer link ||         |
      '-- eth1 ---- a1 -------                  -------- b1 ---- eth1 --'

Each host is a rack of its own: a has 10.1.0.0/24 and fd01::/64, b 10.2.0.0/24 and fd02::/64. A host
is .1. Its gateways are .254, which both leaves are (anycast), and .250 and .251, a leaf each.

Leaves spread over spines by a hash of layer 4; a spine keeps traffic in its plane (a0 and b0, or a1
and b1). So there are 2 ports x 4 spines = 8 paths. As soon as carrier is lost, a spine takes the
other plane, and a leaf without its host the peer link: what routing protocols do at leisure.

Links are unnumbered: next hops are link-local addresses, fe80::N of router N, which answers ICMP by
10.255.0.N and fd00:ff::N. A router's end of a link has the name of what is at the other end. A link
is named by its ends ('a0-s2', 'a-a0'), host or leaf first; a direction by the host that traffic
goes towards.
"""

import ipaddress

from .errors import LabError
from .sampler import Sampler

LEAVES = {'a0': 1, 'a1': 2, 'b0': 3, 'b1': 4}
SPINES = {'s0': 11, 's1': 12, 's2': 13, 's3': 14}
ROUTERS = {**LEAVES, **SPINES}
RACKS = {'a': 1, 'b': 2}
PLANE_TABLE = 101       # routes of plane 1; those of plane 0 are in the main table
FALLBACK = 100          # metric of a route that counts when the one before it has no carrier
ANYCAST_MAC = '02:fa:00:00:00:fe'
OWN_MAC = '02:fa:00:00:00:%02x'
QUEUE = 1000            # packets that wait at a shaped end of a link
PACKET = 1100           # bytes on the wire, about
MARK_FROM, MARK_ALL = 10, 30    # packets that wait, for RED
TOKENS_MS = 40          # that a shaper with RED saves up: a CPU may come late

SYSCTLS = {
    'net/ipv4/ip_forward': 1,
    'net/ipv4/fib_multipath_hash_policy': 1,
    'net/ipv4/icmp_ratelimit': 0,
    'net/ipv4/icmp_msgs_per_sec': 1000000,
    'net/ipv4/icmp_msgs_burst': 1000000,
    'net/ipv6/conf/all/forwarding': 1,
    # of all at once 6.1 does not take it; what counts is each interface's own, and they are to come
    'net/ipv6/conf/default/ignore_routes_with_linkdown': 1,
    'net/ipv6/fib_multipath_hash_policy': 1,
    'net/ipv6/icmp/ratelimit': 0,
}
# Of interfaces: a lost carrier counts at once, and no neighbour is asked for again during a test.
CONF = {
    'net/ipv4/conf/%s/ignore_routes_with_linkdown': 1,
    'net/ipv6/conf/%s/accept_dad': 0,
    'net/ipv4/neigh/%s/base_reachable_time_ms': 3600000,
    'net/ipv6/neigh/%s/base_reachable_time_ms': 3600000,
}


# Names and numbers.

def widen(spines):
    """A fabric with more spines than usual; to be called before one is made."""
    for i in range(len(SPINES), spines):
        SPINES['s%d' % i] = ROUTERS['s%d' % i] = 11 + i


def address(host, version=4):
    """A host's address."""
    return '10.%d.0.1' % RACKS[host] if version == 4 else 'fd%02d::1' % RACKS[host]


def packed(host, version=4):
    """A host's address, as it is in a packet."""
    return ipaddress.ip_address(address(host, version)).packed


def prefix(host, version=4):
    """A rack's network."""
    return '10.%d.0.0/24' % RACKS[host] if version == 4 else 'fd%02d::/64' % RACKS[host]


def gateway(host, port=None, version=4):
    """A host's gateway: the one that both leaves are, or that of one port's leaf."""
    last = 254 if port is None else 250 + port
    return ('10.%d.0.%d' if version == 4 else 'fd%02d::%x') % (RACKS[host], last)


def router_address(router, version=4):
    """The address that a router answers ICMP by."""
    return ('10.255.0.%d' if version == 4 else 'fd00:ff::%x') % ROUTERS[router]


def rack(leaf):
    """The host at a leaf."""
    return leaf[0]


def plane(leaf):
    """The number of a leaf in its rack."""
    return int(leaf[1])


def peer_of(leaf):
    """The other leaf of the rack."""
    return '%s%d' % (rack(leaf), 1 - plane(leaf))


def fabric_links():
    """The names of the links between leaves and spines."""
    return ['%s-%s' % (leaf, spine) for leaf in LEAVES for spine in SPINES]


def links():
    """The names of all links: hosts to leaves, leaves to spines, peer links."""
    return (['%s-%s' % (rack(leaf), leaf) for leaf in LEAVES] + fabric_links() +
            ['%s0-%s1' % (host, host) for host in RACKS])


def links_of(router):
    """The names of a router's links."""
    return [link for link in links() if router in link.split('-')]


def interfaces(router):
    """The names of a router's interfaces."""
    return [next(end for end in link.split('-') if end != router) for link in links_of(router)]


def _links(what):
    """Of a link or a router."""
    found = links_of(what) if what in ROUTERS else [what]
    if not set(found) <= set(links()):
        raise LabError('the fabric has no link or router %s' % what)
    return found


def _link_at(at):
    """The link of a (router, interface, hook)."""
    return next(link for link in links() if set(link.split('-')) == {at[0], at[1]})


def _receivers(what, towards=None):
    """(router, interface, hook)s where to drop what a link carries, or a router gets.

    towards  the host that it is on its way to; both when None
    """
    if what in ROUTERS:
        return [at for link in links_of(what) for at in _receivers(link, towards)
                if (at[0], at[2]) == (what, 'ingress')]
    end, other = _links(what)[0].split('-')
    if end in RACKS:        # no filter can be in the host: its leaf drops before it sends
        home, out = (other, end, 'egress'), (other, end, 'ingress')
    else:
        home, out = (end, other, 'ingress'), (other, end, 'ingress')
    if towards is None:
        return [home, out]
    return [home] if towards == rack(end) else [out]


# Commands.

def _shape_commands(tc, name, anew, rate=None, delay=None, queue=QUEUE, ecn=False):
    """For one end of a link. Not `anew`: what waits there stays. FIFOs only: nothing overtakes."""
    dev = '%s qdisc %%s dev %s ' % (tc, name)
    text = dev % 'del' + 'root 2>/dev/null || true\n' if anew else ''
    if anew and not rate and not delay:
        return text
    dev %= 'replace'
    text += dev + 'root handle 1: netem limit %d%s%s\n' % (
        queue, ' delay ' + delay if delay else '', '' if ecn else ' rate %gmbit' % (rate or 0))
    if rate and ecn:
        # netem's own rate would hide from RED what waits.
        text += dev + 'parent 1:1 handle 2: tbf rate %gmbit burst %d limit %d\n' % (
            rate, max(4 * PACKET, rate * 125 * TOKENS_MS), queue * PACKET)
        text += dev + ('parent 2:1 handle 3: red limit %d min %d max %d avpkt %d burst %d '
                       'bandwidth %gmbit probability 1 ecn\n') % (
            queue * PACKET, MARK_FROM * PACKET, MARK_ALL * PACKET, PACKET, MARK_FROM + 5, rate)
    return text


def _routes_again(router):
    return 'ip -n {0} -batch /tmp/{0}.batch\n'.format(router)


def _leaf_batch(leaf):
    host, other, lines = rack(leaf), 'ab'.replace(rack(leaf), ''), []
    for version, length, inet6, flags in ((4, 24, 'inet6 ', ''), (6, 64, '', ' nodad')):
        for which in (None, plane(leaf)):
            lines.append('addr replace %s/%d dev %s noprefixroute%s' % (
                gateway(host, which, version), length, host, flags))
        lines.append('route replace %s dev %s metric 1 src %s' % (
            prefix(host, version), host, router_address(leaf, version)))
        lines.append('route replace %s via %sfe80::%x dev %s metric %d' % (
            prefix(host, version), inet6, LEAVES[peer_of(leaf)], peer_of(leaf), FALLBACK))
        lines.append('route replace %s metric 1' % prefix(other, version) + ''.join(
            ' nexthop via %sfe80::%x dev %s' % (inet6, number, spine)
            for spine, number in SPINES.items()))
    return lines


def _spine_batch():
    return ['route replace %s via %sfe80::%x dev %s table %s metric %d' % (
        prefix(rack(leaf), version), inet6, number, leaf, table,
        1 if which == plane(leaf) else FALLBACK)
            for version, inet6 in ((4, 'inet6 '), (6, ''))
            for leaf, number in LEAVES.items()
            for which, table in enumerate(('main', PLANE_TABLE))]


def _batch(router):
    """For `ip -batch`; may be done again at any time."""
    lines = ['link set lo up', 'addr replace %s/32 dev lo' % router_address(router),
             'addr replace %s/128 dev lo' % router_address(router, 6)]
    for name in interfaces(router):
        lines += ['link set dev %s addrgenmode none' % name, 'link set dev %s up' % name,
                  'addr replace fe80::%x/64 dev %s nodad' % (ROUTERS[router], name)]
    lines += _leaf_batch(router) if router in LEAVES else _spine_batch()
    return '\n'.join(lines) + '\n'


def _sysctls():
    """A script that sets those that there are: 6.1 has some for the whole machine only."""
    every = dict(SYSCTLS)
    for name, value in CONF.items():
        every.update((name % which, value) for which in ('all', 'default'))
    return ''.join('[ ! -e /proc/sys/{0} ] || echo {1} >/proc/sys/{0}\n'.format(name, value)
                   for name, value in every.items())


def _build_script():
    text = "cat >/tmp/sysctls <<'END'\n%sEND\n" % _sysctls()
    text += 'modprobe act_gact; echo 100000 >/proc/sys/net/core/netdev_max_backlog\n'
    text += 'bash -e /tmp/sysctls\n'
    for router in ROUTERS:
        text += 'ip netns add {0}; ip netns exec {0} bash -e /tmp/sysctls\n'.format(router)
    for nic, leaf in enumerate(LEAVES):
        text += 'ip link set eth{0} down; ip link set eth{0} netns {1} name {2}\n'.format(
            nic, leaf, rack(leaf))
    for link in links():
        end, other = link.split('-')
        if end in ROUTERS:
            text += 'ip link add {1} netns {0} type veth peer name {0} netns {1}\n'.format(
                end, other)
    for router in ROUTERS:
        text += "cat >/tmp/%s.batch <<'END'\n%sEND\n" % (router, _batch(router))
        text += _routes_again(router)
        # Now, when nothing waits: attaching it later throws away what does.
        text += ''.join('tc -n %s qdisc add dev %s clsact\n' % (router, name)
                        for name in interfaces(router))
    for spine in SPINES:
        text += ''.join('ip -n %s -%d rule add iif %s lookup %d\n' % (
            spine, version, leaf, PLANE_TABLE)
                        for leaf in LEAVES if plane(leaf) for version in (4, 6))
    return text


class Fabric:
    """The fabric in machine `m`. hosts: {'a': machine, 'b': machine}, their ports eth0 and eth1.

    `cable`, before the lab starts, joins m's eth0 and eth1 to a's ports, eth2 and eth3 to b's.
    """

    def __init__(self, m, hosts):
        self.m = m
        self.hosts = hosts
        self.shapes = {}            # link -> what `shape` was told
        self.filters = set()        # (router, interface, hook) where packets are dropped
        self.slow = set()           # links whose rate is not that of their shape
        self.cuts = set()           # links without carrier

    @staticmethod
    def cable(lab, m, hosts):
        """Join hosts and fabric."""
        for nic, leaf in enumerate(LEAVES):
            lab.cable(m, nic, hosts[rack(leaf)], plane(leaf))

    def build(self, anycast=True):
        """Make the routers and all links, not shaped; see `gateways`."""
        self.m.put(_build_script().encode(), '/tmp/fabric.sh')
        self.m.run('bash -e /tmp/fabric.sh', timeout=120)
        self.gateways(anycast)

    def gateways(self, anycast):
        """Whether both leaves of a rack have one MAC, so that .254 is the same at both."""
        self.m.run('\n'.join('ip -n %s link set dev %s address %s' % (
            leaf, rack(leaf), ANYCAST_MAC if anycast else OWN_MAC % ROUTERS[leaf])
                             for leaf in LEAVES))

    def neighbours(self, host, mac=None):
        """Both leaves know a host's MAC, as if they told each other; None: each asks by itself.

        With anycast gateways the answer to one leaf may reach the other.
        """
        how = 'replace %%s dev %s lladdr %s nud permanent' % (host, mac) if mac else \
            'del %%s dev %s' % host
        self.m.run('\n'.join('ip -n %s neigh %s' % (leaf, how % address(host, version))
                             for leaf in LEAVES if rack(leaf) == host for version in (4, 6)))

    def hash_flow_label(self, on):
        """Spread IPv6 by addresses and flow label instead of layer 4."""
        cmd = 'echo %d >/proc/sys/net/ipv6/fib_multipath_hash_policy' % (not on)
        self.m.run('\n'.join('ip netns exec %s bash -c "%s"' % (router, cmd) for router in ROUTERS))

    # What links are like: the same in both directions.

    def shape(self, which=None, rate=None, delay=None, queue=QUEUE, ecn=False):
        """Shape a link, or all between leaves and spines. What waits there is lost.

        rate   in Mbit/s; with `ecn` RED marks what waits: none up to MARK_FROM, all from MARK_ALL
        delay  as netem takes it ('1ms')
        queue  packets that may wait, delayed ones included
        """
        which = [which] if which else fabric_links()
        for link in which:
            self.shapes[link] = {'rate': rate, 'delay': delay, 'queue': queue, 'ecn': ecn}
        self._apply(which, anew=True)

    def unshape(self):
        """Undo `shape`, everywhere."""
        which = list(self.shapes)
        self.shapes.clear()
        self._apply(which, anew=True)

    def _apply(self, which, anew=False, rate=None):
        cmd = 'set -e\n'
        for link in which:
            shape = dict(self.shapes.get(link, {}), anew=anew)
            if rate:
                shape['rate'] = rate
            end, other = link.split('-')
            cmd += _shape_commands('tc -n ' + other, end, **shape)
            if end in ROUTERS:
                cmd += _shape_commands('tc -n ' + end, other, **shape)
            else:
                self.hosts[end].run(_shape_commands('tc', 'eth%d' % plane(other), **shape))
        self.m.run(cmd, timeout=60)

    # Faults. `what` is a link or a router; `towards` a host: only what is on its way to it.

    def cut(self, what):
        """The link, or all links of the router, lose their carrier at both ends."""
        self._carrier(_links(what), False)

    def blackhole(self, what, towards=None):
        """All is dropped that the link carries, or that reaches the router. Carrier stays."""
        self._filter(what, towards, 'drop')

    def loss(self, what, percent, towards=None):
        """A part of that is dropped, at random: one in N, a whole number."""
        self._filter(what, towards, 'gact pass random netrand drop %d' % round(100 / percent))

    def rate(self, link, mbit):
        """The link becomes slower, or faster; what waits there stays."""
        self._apply([link], rate=mbit)
        self.slow.add(link)

    def heal(self, what=None):
        """Undo all faults of a link or a router, or all there are. Shapes stay."""
        mine = set(_links(what) if what else links())
        filters = {at for at in self.filters if _link_at(at) in mine}
        if filters:
            self._at_once('tc', [(router, 'filter del dev %s %s pref 1' % tuple(at))
                                 for router, *at in sorted(filters)])
            self.filters -= filters
        if self.cuts & mine:
            self._carrier(self.cuts & mine, True)
        if self.slow & mine:
            self._apply(self.slow & mine)
            self.slow -= mine

    def _carrier(self, which, on):
        downs = []
        for link in sorted(which):
            end, other = link.split('-')
            if end in RACKS:
                self.m.set_link(list(LEAVES).index(other), on)
                self.hosts[end].set_link(plane(other), on)
            else:
                downs.append((other, 'link set dev %s down' % end))
        if not on:
            self._at_once('ip', downs)
        elif downs:     # what was set down has lost its routes
            self.m.run('set -e\n' + ''.join(map(_routes_again, {router for router, _ in downs})))
        self.cuts = self.cuts - set(which) if on else self.cuts | set(which)

    def _filter(self, what, towards, action):
        where = set(_receivers(what, towards))
        self._at_once('tc', [(router, 'filter replace dev %s %s pref 1 protocol all handle 1 '
                              'matchall action %s' % (name, hook, action))
                             for router, name, hook in sorted(where)])
        self.filters |= where

    def _at_once(self, program, lines):
        """Run (router, line)s: by one process for each router, so that a fault comes at once."""
        batches = {}
        for router, line in lines:
            batches.setdefault(router, []).append(line)
        if batches:
            self.m.run('set -e\n' + ''.join("%s -n %s -batch - <<'END'\n%s\nEND\n" % (
                program, router, '\n'.join(batch)) for router, batch in batches.items()))

    # What it carries.

    def packets(self):
        """{(router, interface): packets that it has received}."""
        found, router = {}, None
        for line in self.m.run('ip -all netns exec cat /proc/net/dev').out.splitlines():
            name, _, rest = line.strip().partition(':')
            if name == 'netns':
                router = rest.strip()
            elif rest:
                found[router, name] = int(rest.split()[1])
        return found

    def sampler(self, router, period_ms=10):
        """Start to sample what all interfaces of a router receive."""
        return Sampler(self.m, interfaces(router), period_ms, ns=router)
