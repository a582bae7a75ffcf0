# SPDX-License-Identifier: GPL-2.0
"""Ways to use several ports: what joins them, on one machine, and what undoes it.

A way is named 'KIND ARGUMENT': 'port', 'bond MODE', 'team RUNNER', 'ecmp per-flow', 'ecmp resilient',
'rocepath SCHEDULER'. Its device gets the address, and soft-RoCE.

ECMP needs a hop: soft-RoCE asks for a route out of its own device, and says nothing of UDP ports. So
ports belong to a router in a network namespace, as those of a host that routes for its containers,
and the device is a veth to it:

      up0 10.7.0.N --- host | router | eth0 10.7.10.N, eth1 10.7.11.N, ...
"""

import json

from rocepath_lab import key

ROUTER = 'router'
PORT_NETWORK = '10.7.%d.%d'     # of a port, of a machine
PORT_NETWORKS = 10              # number of the first port's network
GROUP = 100                     # number of the nexthop group
MIIMON_MS = 100
RUNNERS = {
    'loadbalance': {'name': 'loadbalance', 'tx_hash': ['ip', 'l4']},
    'activebackup': {'name': 'activebackup'},
    'roundrobin': {'name': 'roundrobin'},
}
# Virtual NICs do not say how fast they are, and 802.3ad joins none of unknown duplex.
LACP_LINK = 'ethtool -s %s speed 1000 duplex full'


class Way:
    """How the ports of a machine are joined; `settings` are rocepath's."""

    device = None           # has the address
    namespace = None        # the ports are there

    def __init__(self, m, ports, argument, settings):
        self.m = m
        self.ports = ports
        self.argument = argument
        self.settings = settings

    def make(self):
        """Make the device."""

    def ready(self):
        """Whether it has come to use all of its ports."""
        return True

    def mended(self):
        """A port is well again, and who has to be told is told."""

    def unmake(self):
        """Take it away again; the ports are down, or not, and without addresses."""
        self.m.run('ip link del %s' % self.device)


class Port(Way):
    """The first of them, and no other."""

    device = 'eth0'

    def unmake(self):
        self.m.run('ip addr flush dev eth0')


class Bond(Way):
    """Bonding."""

    device = 'bd0'

    def make(self):
        lacp = self.argument == '802.3ad'
        cmd = 'modprobe bonding max_bonds=0\nset -e\nip link add bd0 type bond mode %s miimon %d%s%s\n' % (
            self.argument, MIIMON_MS, ' lacp_rate fast' if lacp else '',
            ' xmit_hash_policy layer3+4' if self.argument in ('balance-xor', '802.3ad') else '')
        for name in self.ports:
            cmd += 'ip link set {0} down; ip link set {0} master bd0\n'.format(name)
            cmd += LACP_LINK % name + '\n' if lacp else ''
        self.m.run(cmd)

    def ready(self):
        if self.argument != '802.3ad':
            return True
        return 'Number of ports: %d' % len(self.ports) in self.m.get('/proc/net/bonding/bd0').decode()


class Team(Way):
    """The team driver, and its daemon teamd."""

    device = 'tm0'

    def make(self):
        config = {'device': self.device, 'runner': RUNNERS[self.argument], 'link_watch': {'name': 'ethtool'},
                  'ports': {name: {} for name in self.ports}}
        self.m.put(json.dumps(config).encode(), '/tmp/team.conf', 0o600)
        self.m.run('set -e; mkdir -p /run/teamd\n' + ''.join('ip link set %s down\n' % name for name in self.ports) +
                   'teamd -d -f /tmp/team.conf')

    def unmake(self):
        self.m.run('teamd -k -t %s' % self.device)
        self.m.poll('! ip link show dev %s' % self.device, why='teamd takes its device along')


class Ecmp(Way):
    """A multipath route, or a resilient nexthop group; the kernel takes ports without carrier out of either."""

    device = 'up0'
    namespace = ROUTER

    def _nexthops(self):
        """(number, address of the other machine, port) of each."""
        other = 3 - self.m.number
        return [(1 + i, PORT_NETWORK % (PORT_NETWORKS + i, other), name) for i, name in enumerate(self.ports)]

    def _route(self):
        to = PORT_NETWORK % (0, 3 - self.m.number)
        if self.argument == 'per-flow':
            return 'ip route replace %s%s\n' % (to, ''.join(
                ' nexthop via %s dev %s' % (address, name) for _, address, name in self._nexthops()))
        cmd = ''.join('ip nexthop replace id %d via %s dev %s\n' % hop for hop in self._nexthops())
        cmd += 'ip nexthop replace id %d group %s type resilient buckets 64 idle_timer 1\n' % (
            GROUP, '/'.join(str(number) for number, _, _ in self._nexthops()))
        return cmd + 'ip route replace %s nhid %d\n' % (to, GROUP)

    def make(self):
        number = self.m.number
        self.m.run('set -e\nmodprobe veth; ip netns add {0}\n'
                   'ip link add {1} type veth peer name host netns {0}\n'.format(ROUTER, self.device) +
                   ''.join('ip link set %s netns %s\n' % (name, ROUTER) for name in self.ports))
        cmd = ('set -e; cd /proc/sys/net/ipv4; echo 1 >ip_forward; echo 1 >fib_multipath_hash_policy\n'
               'echo 1 >conf/all/ignore_routes_with_linkdown; echo 1 >conf/default/ignore_routes_with_linkdown\n'
               'echo 1 >conf/host/proxy_arp; echo 0 >neigh/host/proxy_delay\n'
               'ip link set lo up; ip link set host up; ip route add %s dev host\n' % (PORT_NETWORK % (0, number)))
        for i, name in enumerate(self.ports):
            cmd += 'echo 1 >conf/{0}/ignore_routes_with_linkdown\nip link set {0} up\n'.format(name)
            cmd += 'ip addr add %s/24 dev %s\n' % (PORT_NETWORK % (PORT_NETWORKS + i, number), name)
        self.m.run(cmd + self._route(), ns=ROUTER)

    def mended(self):
        """What a routing daemon does: it puts the nexthop that has come back into the group again."""
        if self.argument == 'resilient':
            self.m.run('set -e\n' + self._route(), ns=ROUTER)

    def unmake(self):
        self.m.run('set -e\n' + ''.join('ip link set %s netns 1\n' % name for name in self.ports), ns=ROUTER)
        self.m.run('ip link del %s; ip netns del %s' % (self.device, ROUTER))


class Rocepath(Way):
    """The module."""

    device = 'rp0'

    def make(self):
        cmd = 'set -e; modprobe rocepath; ip link add rp0 type rocepath\n'
        for name in self.ports:
            cmd += 'ip link set {0} up; ip link set {0} master rp0\n'.format(name)
        self.m.run(cmd + 'rocepath device set rp0 scheduler %s %s\n' % (self.argument, self.settings))
        key(self.m)


KINDS = {'port': Port, 'bond': Bond, 'team': Team, 'ecmp': Ecmp, 'rocepath': Rocepath}


def way(name, m, ports, settings=''):
    """The way of that name on a machine, not made yet."""
    kind, _, argument = name.partition(' ')
    return KINDS[kind](m, ports, argument, settings)
