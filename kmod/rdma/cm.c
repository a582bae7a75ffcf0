// SPDX-License-Identifier: GPL-2.0
/*
 * Finding each other, by rdma_cm: address, route, then service ID resolution
 * (RDMA_PS_UDP), which is one question and one answer. Each host listens on one
 * port of that space, and answers with QPN and Q_Key of the device that was asked.
 *
 * Nothing of that is authenticated. Who forges an answer makes us send our
 * hellos elsewhere, where nobody can answer them without the key; who asks is
 * told two numbers, and no state is kept of it.
 *
 * Only in the initial network namespace: rdma_rxe has no other in 6.1 and 6.12.
 */
#include "cm.h"

#include <linux/inet.h>
#include <linux/module.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <rdma/ib_cm.h>
#include <rocepath/rdma_wire.h>

#define CM_RESOLVE_MS 2000
#define CM_BACKLOG 128

static ushort cm_port = RP_RDMA_CM_PORT;
module_param(cm_port, ushort, 0444);
MODULE_PARM_DESC(cm_port,
		 "Where peers find us, in rdma_cm's port space; the same on all hosts");

static struct rdma_cm_id *listeners[2];

static void cm_sockaddr(struct sockaddr_storage *storage, const struct in6_addr *address, u16 port)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)storage;
	struct sockaddr_in *in = (struct sockaddr_in *)storage;

	memset(storage, 0, sizeof(*storage));
	if (ipv6_addr_v4mapped(address)) {
		in->sin_family = AF_INET;
		in->sin_addr.s_addr = address->s6_addr32[3];
		in->sin_port = htons(port);
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_addr = *address;
		in6->sin6_port = htons(port);
	}
}

/* --- asking --- */

static void cm_finish(struct rp_rdma_cm *cm, int err)
{
	if (cm->finished)
		return;
	cm->err = err;
	/* with rp_rdma_cm_finished(): the result is there before it is said to be */
	smp_store_release(&cm->finished, true);
	cm->done(cm);
}

static void cm_found(struct rp_rdma_cm *cm, const struct rdma_ud_param *ud)
{
	if (ud->ah_attr.type != RDMA_AH_ATTR_TYPE_ROCE) {
		cm_finish(cm, -EPROTONOSUPPORT);
		return;
	}
	rdma_copy_ah_attr(&cm->attr, &ud->ah_attr);
	cm->qpn = ud->qp_num;
	cm->qkey = ud->qkey;
	cm_finish(cm, 0);
}

/* called by rdma_cm, that is with its lock of the id */
static int cm_connect(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { };

	return rdma_connect_locked(id, &param);
}

/* Return: 0 always, for the id is destroyed by rp_rdma_cm_end() */
static int cm_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct rp_rdma_cm *cm = id->context;
	int err = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		err = rdma_resolve_route(id, CM_RESOLVE_MS);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		err = cm_connect(id);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		cm_found(cm, &event->param.ud);
		break;
	default:
		err = event->status < 0 ? event->status : -EHOSTUNREACH;
	}
	if (err)
		cm_finish(cm, err);
	return 0;
}

/**
 * rp_rdma_cm_resolve() - begin to look for a peer
 * @cm: @done is set, @id is NULL
 * @local: our address, IPv4 mapped
 * @remote: the peer's
 *
 * Context: process.
 * Return: 0, and @done will be called; or a negative errno.
 */
int rp_rdma_cm_resolve(struct rp_rdma_cm *cm, const struct in6_addr *local,
		       const struct in6_addr *remote)
{
	struct sockaddr_storage src, dst;
	struct rdma_cm_id *id;
	int err;

	cm_sockaddr(&src, local, 0);
	cm_sockaddr(&dst, remote, cm_port);
	cm->finished = false;
	id = rdma_create_id(&init_net, cm_event, cm, RDMA_PS_UDP, IB_QPT_UD);
	if (IS_ERR(id))
		return PTR_ERR(id);
	cm->id = id;
	err = rdma_resolve_addr(id, (struct sockaddr *)&src, (struct sockaddr *)&dst,
				CM_RESOLVE_MS);
	if (err) {
		rdma_destroy_id(id);
		cm->id = NULL;
	}
	return err;
}

/** rp_rdma_cm_finished() - is there a result? Context: any. */
bool rp_rdma_cm_finished(const struct rp_rdma_cm *cm)
{
	/* with cm_finish() */
	return cm->id && smp_load_acquire(&cm->finished);
}

/**
 * rp_rdma_cm_end() - done with it, or no longer wanted; what was found is forgotten
 * @cm: of which nobody uses @attr any more
 *
 * Context: process; not from @done.
 */
void rp_rdma_cm_end(struct rp_rdma_cm *cm)
{
	if (!cm->id)
		return;
	rdma_destroy_id(cm->id);
	cm->id = NULL;
	if (cm->finished && !cm->err)
		rdma_destroy_ah_attr(&cm->attr);
}

/* --- being asked --- */

/* Return: not 0, so that rdma_cm destroys the id: the one answer is all that it was for */
static int cm_answer(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { };

	if (rp_rdma_cm_endpoint(id->device, id->port_num, &param.qp_num, &param.qkey))
		rdma_accept(id, &param);
	else
		rdma_reject(id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
	return 1;
}

static int cm_listen_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	return event->event == RDMA_CM_EVENT_CONNECT_REQUEST ? cm_answer(id) : 0;
}

static struct rdma_cm_id *cm_listen(const struct in6_addr *any)
{
	struct sockaddr_storage address;
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(&init_net, cm_listen_event, NULL, RDMA_PS_UDP, IB_QPT_UD);
	if (IS_ERR(id))
		return id;
	cm_sockaddr(&address, any, cm_port);
	err = rdma_set_afonly(id, 1);
	if (!err)
		err = rdma_bind_addr(id, (struct sockaddr *)&address);
	if (!err)
		err = rdma_listen(id, CM_BACKLOG);
	if (err) {
		rdma_destroy_id(id);
		return ERR_PTR(err);
	}
	return id;
}

/**
 * rp_rdma_cm_init() - listen, for IPv4 and for IPv6
 *
 * Where one of them cannot be, as without IPv6, the other will do.
 *
 * Return: 0 or a negative errno.
 */
int rp_rdma_cm_init(void)
{
	static const struct in6_addr any[] = {
		{ { { [10] = 0xff, [11] = 0xff } } }, IN6ADDR_ANY_INIT,
	};
	int i, err = 0;

	for (i = 0; i < ARRAY_SIZE(listeners); i++) {
		struct rdma_cm_id *id = cm_listen(&any[i]);

		if (IS_ERR(id))
			err = PTR_ERR(id);
		else
			listeners[i] = id;
	}
	return listeners[0] || listeners[1] ? 0 : err;
}

/** rp_rdma_cm_exit() - stop listening. */
void rp_rdma_cm_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(listeners); i++) {
		if (listeners[i])
			rdma_destroy_id(listeners[i]);
		listeners[i] = NULL;
	}
}
