// SPDX-License-Identifier: GPL-2.0
/* What is wrong with a device, and what to do about it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "error.h"
#include "overview.h"
#include "units.h"

#define ADVICE_LEN 256
#define SET_KEY "rocepath key set dev %s id 1 secret-file FILE"
#define SET_SPRAY "rocepath device set %s scheduler spray"

struct adviser {
	rp_advice_fn say;
	void *data;
};

static void advise(const struct adviser *to, const char *format, ...) RP_PRINTF(2, 3);

static void advise(const struct adviser *to, const char *format, ...)
{
	char text[ADVICE_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	to->say(to->data, text);
}

/**
 * rp_link_state() - ask the kernel how a netdevice is
 * @name: of the netdevice
 *
 * Return: RP_LINK_DOWN also when it has gone.
 */
enum rp_link rp_link_state(const char *name)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { 0 };
	int err;

	if (fd < 0)
		return RP_LINK_DOWN;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	err = ioctl(fd, SIOCGIFFLAGS, &request);
	close(fd);
	if (err || !(request.ifr_flags & IFF_UP))
		return RP_LINK_DOWN;
	return request.ifr_flags & IFF_RUNNING ? RP_LINK_UP : RP_LINK_NO_CARRIER;
}

/**
 * rp_link_name() - a word for the state of a netdevice
 * @link: the state
 */
const char *rp_link_name(enum rp_link link)
{
	return link == RP_LINK_UP ? "up" : link == RP_LINK_DOWN ? "down" : "no carrier";
}

static void advise_port(const struct adviser *to, const struct rp_attrs *port)
{
	const char *name = rp_attr_string(port, ROCEPATH_A_PORT_NAME);
	char left[RP_TEXT_LEN];

	switch (rp_attr_number(port, ROCEPATH_A_PORT_STATE)) {
	case ROCEPATH_PORT_HOLDDOWN:
		rp_unit_print(RP_UNIT_MS, rp_attr_number(port, ROCEPATH_A_PORT_HOLDDOWN_LEFT_MS),
			      left);
		advise(to, "%s came back and is used again in %s, if it stays up", name, left);
		break;
	case ROCEPATH_PORT_DOWN:
		if (rp_link_state(name) == RP_LINK_DOWN)
			advise(to, "%s is set down; set it up: ip link set %s up", name, name);
		else
			advise(to, "%s is down (%s): look at its cable and its switch", name,
			       rp_attr_string(port, ROCEPATH_A_PORT_REASON));
		break;
	}
}

static void advise_link(const struct adviser *to, const struct rp_overview *o)
{
	if (rp_link_state(o->name) == RP_LINK_DOWN)
		advise(to, "%s is set down; set it up: ip link set %s up", o->name, o->name);
	if (!o->port_count)
		advise(to, "it has no port; add one: ip link set eth0 master %s", o->name);
	for (unsigned int i = 0; i < o->port_count; i++)
		advise_port(to, &o->ports[i]);
}

static void advise_peers(const struct adviser *to, const struct rp_overview *o)
{
	unsigned int plain = o->peers[ROCEPATH_PEER_PLAIN], lost = o->peers[ROCEPATH_PEER_LOST];

	if (lost)
		advise(to, "%u of its peers fell silent; see: rocepath peer show dev %s", lost,
		       o->name);
	if (plain && o->key_count)
		advise(to, "%u of its peers say no hello: load rocepath there, set the same key",
		       plain);
	if ((plain || lost) && o->key_count && o->hellos_refused)
		advise(to, "%" PRIu64 " hellos came with another key or secret: set the same one",
		       o->hellos_refused);
}

/**
 * rp_advise() - say what is wrong and what to do next
 * @overview: what is known of a device
 * @say: called with each advice, one line
 * @data: for @say
 */
void rp_advise(const struct rp_overview *overview, rp_advice_fn say, void *data)
{
	const struct rp_overview *o = overview;
	const struct adviser to = { say, data };

	advise_link(&to, o);
	if (o->keys_hidden)
		advise(&to, "keys are shown only with CAP_NET_ADMIN: run it as root");
	else if (!o->key_count)
		advise(&to, "no key: nothing is sprayed; set one: " SET_KEY, o->name);
	if (!rp_attr_number(&o->device, ROCEPATH_A_DEVICE_REORDERS))
		advise(&to, "this kernel does not show its queue pairs: peers cannot spray to it");
	advise_peers(&to, o);
	if (!strcmp(rp_attr_string(&o->device, ROCEPATH_A_DEVICE_SCHEDULER), "flow") &&
	    o->peers[ROCEPATH_PEER_CAPABLE])
		advise(&to, "each flow keeps to one path; use all: " SET_SPRAY, o->name);
}
