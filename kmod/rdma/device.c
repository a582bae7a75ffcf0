// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA devices come and go as ib_core tells its clients: one struct
 * rp_rdma_device for each port that speaks RoCEv2.
 *
 * A device goes while QPs may still be on it, for clients are told in the reverse
 * order of their registration. Six steps make that safe:
 *   1. It leaves the list, so that no netlink request and no probe handler finds it.
 *   2. A grace period: handlers run with preemption off, so none is left that did.
 *   3. Its port's events end.
 *   4. Its QPs leave the table, their places and their probes.
 *   5. Probes end; then nobody begins to act on a QP, and who has begun is waited for.
 *   6. Plans go. Rows that somebody still holds, or reads under RCU, know it until a grace
 *	period is over.
 */
#include "device.h"

#include <linux/module.h>
#include <linux/slab.h>

#include "failure.h"
#include "netlink.h"
#include "pair.h"
#include "probe.h"
#include "qp.h"

DEFINE_MUTEX(rp_rdma_mutex);	/* the list, and settings */
LIST_HEAD(rp_rdma_devices);	/* readers: under it, or RCU */

/* of devices that are to come; a probe each 10 ms tells of a dead path within 30 */
struct rp_rdma_settings rp_rdma_defaults = {
	.on_failure = ROCEPATH_RDMA_ACTION_NOTIFY,
	.probe_interval_us = 10000,
	.probes_per_second = 10000,
	.holddown_ms = 1000,
	.slow_factor = 4,
};

/* the names that drivers have in ib_core, and whether the source port is made of the flow label */
static const struct {
	const char *name;
	u8 follows;
} drivers[] = {
	[RDMA_DRIVER_MLX5] = { "mlx5", ROCEPATH_RDMA_FOLLOWS_YES },
	[RDMA_DRIVER_MLX4] = { "mlx4", ROCEPATH_RDMA_FOLLOWS_UNKNOWN },
	[RDMA_DRIVER_BNXT_RE] = { "bnxt_re", ROCEPATH_RDMA_FOLLOWS_UNKNOWN },
	[RDMA_DRIVER_OCRDMA] = { "ocrdma", ROCEPATH_RDMA_FOLLOWS_UNKNOWN },
	[RDMA_DRIVER_IRDMA] = { "irdma", ROCEPATH_RDMA_FOLLOWS_YES },
	[RDMA_DRIVER_VMW_PVRDMA] = { "vmw_pvrdma", ROCEPATH_RDMA_FOLLOWS_UNKNOWN },
	[RDMA_DRIVER_QEDR] = { "qedr", ROCEPATH_RDMA_FOLLOWS_UNKNOWN },
	[RDMA_DRIVER_HNS] = { "hns", ROCEPATH_RDMA_FOLLOWS_YES },
	[RDMA_DRIVER_RXE] = { "rxe", ROCEPATH_RDMA_FOLLOWS_YES },
	[RDMA_DRIVER_ERDMA] = { "erdma", ROCEPATH_RDMA_FOLLOWS_YES },
#ifdef RP_HAVE_RDMA_DRIVER_MANA
	[RDMA_DRIVER_MANA] = { "mana", ROCEPATH_RDMA_FOLLOWS_YES },
#endif
};

/**
 * rp_rdma_device_of() - the port that a QP is on
 * @ib: its RDMA device
 * @port: number of the port
 *
 * Context: RCU, or rp_rdma_mutex.
 * Return: the port, NULL: not RoCEv2, or not there any more.
 */
struct rp_rdma_device *rp_rdma_device_of(const struct ib_device *ib, u32 port)
{
	struct rp_rdma_device *rdev;

	list_for_each_entry_rcu(rdev, &rp_rdma_devices, list, lockdep_is_held(&rp_rdma_mutex))
		if (rdev->ib == ib && rdev->port == port)
			return rdev;
	return NULL;
}

/**
 * rp_rdma_device_find() - a port by its device's name
 * @name: of the RDMA device
 * @port: number of the port
 *
 * Context: RCU, or rp_rdma_mutex.
 * Return: the port or NULL.
 */
struct rp_rdma_device *rp_rdma_device_find(const char *name, u32 port)
{
	struct rp_rdma_device *rdev;

	list_for_each_entry_rcu(rdev, &rp_rdma_devices, list, lockdep_is_held(&rp_rdma_mutex))
		if (rdev->port == port && !strcmp(rdev->name, name))
			return rdev;
	return NULL;
}

/**
 * rp_rdma_device_follows() - does its UDP source port follow the flow label?
 * @rdev: the port
 *
 * Context: any.
 * Return: enum rocepath_rdma_follows.
 */
u32 rp_rdma_device_follows(const struct rp_rdma_device *rdev)
{
	u32 id = rdev->ib->ops.driver_id;

	return id < ARRAY_SIZE(drivers) ? drivers[id].follows : ROCEPATH_RDMA_FOLLOWS_UNKNOWN;
}

/**
 * rp_rdma_device_driver() - name of its driver
 * @rdev: the port
 *
 * Context: any.
 */
const char *rp_rdma_device_driver(const struct rp_rdma_device *rdev)
{
	u32 id = rdev->ib->ops.driver_id;

	return id < ARRAY_SIZE(drivers) && drivers[id].name ? drivers[id].name : "other";
}

static struct rp_rdma_device *rdev_new(struct ib_device *ib, u32 port)
{
	struct rp_rdma_device *rdev = kzalloc(sizeof(*rdev), GFP_KERNEL);

	if (!rdev)
		return NULL;
	rdev->ib = ib;
	rdev->port = port;
	strscpy(rdev->name, dev_name(&ib->dev), sizeof(rdev->name));
	mutex_lock(&rp_rdma_mutex);
	rdev->settings = rp_rdma_defaults;
	mutex_unlock(&rp_rdma_mutex);
	rdev->pairs = rp_rdma_pairs_new();
	if (!rdev->pairs)
		goto err_rdev;
	if (rp_rdma_probe_start(rdev))
		goto err_pairs;
	mutex_lock(&rp_rdma_mutex);
	list_add_tail_rcu(&rdev->list, &rp_rdma_devices);
	mutex_unlock(&rp_rdma_mutex);
	INIT_IB_EVENT_HANDLER(&rdev->events, ib, rp_rdma_failure_event);
	ib_register_event_handler(&rdev->events);
	return rdev;

err_pairs:
	rp_rdma_pairs_release(rdev->pairs);
err_rdev:
	kfree(rdev);
	return NULL;
}

static void rdev_release(struct rp_rdma_device *rdev)
{
	ib_unregister_event_handler(&rdev->events);
	rp_rdma_qp_forget_device(rdev);
	rp_rdma_probe_stop(rdev);
	rp_rdma_failure_flush();
	rp_rdma_pairs_release(rdev->pairs);
	kfree_rcu(rdev, rcu);
}

/* ports that are there, but cannot be looked after, are none of ours */
static int rdev_add(struct ib_device *ib)
{
	u32 port;

	rdma_for_each_port(ib, port)
		if (rdma_protocol_roce_udp_encap(ib, port) && !rdev_new(ib, port))
			pr_warn("rocepath_rdma: no memory for %s port %u\n", dev_name(&ib->dev),
				port);
	return 0;
}

/* a port of @ib leaves the list, after which nobody finds it any more */
static struct rp_rdma_device *rdev_unlist(const struct ib_device *ib)
{
	struct rp_rdma_device *rdev, *found = NULL;

	mutex_lock(&rp_rdma_mutex);
	list_for_each_entry(rdev, &rp_rdma_devices, list)
		if (rdev->ib == ib)
			found = rdev;
	if (found)
		list_del_rcu(&found->list);
	mutex_unlock(&rp_rdma_mutex);
	if (found)
		synchronize_rcu();
	return found;
}

static void rdev_remove(struct ib_device *ib, void *data)
{
	struct rp_rdma_device *rdev;

	while ((rdev = rdev_unlist(ib)))
		rdev_release(rdev);
}

static void rdev_rename(struct ib_device *ib, void *data)
{
	struct rp_rdma_device *rdev;

	mutex_lock(&rp_rdma_mutex);
	list_for_each_entry(rdev, &rp_rdma_devices, list)
		if (rdev->ib == ib)
			strscpy(rdev->name, dev_name(&ib->dev), sizeof(rdev->name));
	mutex_unlock(&rp_rdma_mutex);
}

static struct ib_client rdev_client = {
	.name = "rocepath",
	.add = rdev_add,
	.remove = rdev_remove,
	.rename = rdev_rename,
	.no_kverbs_req = true,
};

/**
 * rp_rdma_device_init() - begin to look after RDMA devices
 *
 * Return: 0 or a negative errno.
 */
int rp_rdma_device_init(void)
{
	return ib_register_client(&rdev_client);
}

/** rp_rdma_device_exit() - stop looking after them. */
void rp_rdma_device_exit(void)
{
	ib_unregister_client(&rdev_client);
}
