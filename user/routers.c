// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "routers.h"

/* the last hop of a path that gets there is the peer itself */
static unsigned int count(const struct rp_fabric_path *path)
{
	return path->reached ? path->hops - 1 : path->hops;
}

/**
 * rp_routers_print() - the routers in their order, * for one that did not answer
 * @path: a path
 * @text: RP_ROUTERS_TEXT_LEN bytes
 */
void rp_routers_print(const struct rp_fabric_path *path, char *text)
{
	unsigned int routers = count(path);
	char address[RP_TEXT_LEN];
	size_t len = 0;

	strcpy(text, routers ? "" : path->reached ? "(none)" : "(nobody)");
	for (unsigned int i = 0; i < routers && len < RP_ROUTERS_TEXT_LEN; i++) {
		strcpy(address, "*");
		if (path->heard >> i & 1)
			rp_address_print(path->router[i], address);
		len += snprintf(text + len, RP_ROUTERS_TEXT_LEN - len, "%s%s", i ? " " : "",
				address);
	}
}

/**
 * rp_routers_json() - whether a path gets there, its routers, and its round trip if that is known
 * @path: a path
 * @json: where, in an object
 */
void rp_routers_json(const struct rp_fabric_path *path, struct rp_json *json)
{
	char address[RP_TEXT_LEN];

	rp_json_bool(json, "reached", path->reached);
	rp_json_open(json, "routers", '[');
	for (unsigned int i = 0; i < count(path); i++) {
		rp_address_print(path->router[i], address);
		if (path->heard >> i & 1)
			rp_json_string(json, NULL, address);
		else
			rp_json_null(json, NULL);
	}
	rp_json_close(json, ']');
	if (path->rtt_us)
		rp_json_number(json, "rtt_us", path->rtt_us);
}
