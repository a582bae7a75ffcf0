// SPDX-License-Identifier: GPL-2.0
/*
 * rocepath_rdma: entropy, class and failure for QPs that bypass the kernel's network stack.
 *
 * This file only puts the parts in order. Netlink comes last and goes first, so
 * that nobody asks for what is not there; QPs are seen when there are devices.
 */
#include <linux/module.h>

#include "class.h"
#include "device.h"
#include "failure.h"
#include "hook.h"
#include "netlink.h"
#include "probe.h"

static int __init rp_rdma_init(void)
{
	int err;

	err = rp_rdma_failure_init();
	if (err)
		return err;
	err = rp_rdma_probe_init();
	if (err)
		goto err_failure;
	err = rp_rdma_device_init();
	if (err)
		goto err_probe;
	rp_rdma_hook_init();
	err = rp_rdma_netlink_init();
	if (err)
		goto err_hook;
	return 0;

err_hook:
	rp_rdma_hook_exit();
	rp_rdma_device_exit();
err_probe:
	rp_rdma_probe_exit();
err_failure:
	rp_rdma_failure_exit();
	return err;
}

static void __exit rp_rdma_exit(void)
{
	rp_rdma_netlink_exit();
	rp_rdma_hook_exit();
	rp_rdma_device_exit();
	rp_rdma_probe_exit();
	rp_rdma_failure_exit();
	rp_rdma_policy_exit();
}

module_init(rp_rdma_init);
module_exit(rp_rdma_exit);

MODULE_DESCRIPTION("Entropy, class and failure for RoCE QPs that bypass the network stack");
MODULE_AUTHOR("The rocepath authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(RP_VERSION);
MODULE_ALIAS_GENL_FAMILY(ROCEPATH_RDMA_FAMILY_NAME);
