// SPDX-License-Identifier: GPL-2.0
/*
 * rocepath: one RoCE queue pair over every path.
 *
 * This file only puts the parts in order. Netlink comes last and goes first, so
 * that nobody asks for what is not there; devices go before what their packets
 * use.
 */
#include <linux/module.h>

#include "device.h"
#include "netlink.h"
#include "port.h"
#include "qp.h"
#include "tx.h"

static int __init rp_init(void)
{
	int err;

	err = rp_tx_init();
	if (err)
		return err;
	err = rp_qp_init();
	if (err)
		goto err_tx;
	err = rp_port_init();
	if (err)
		goto err_qp;
	err = rp_device_init();
	if (err)
		goto err_port;
	err = rp_netlink_init();
	if (err)
		goto err_device;
	return 0;

err_device:
	rp_device_exit();
err_port:
	rp_port_exit();
err_qp:
	rp_qp_exit();
err_tx:
	rp_tx_exit();
	return err;
}

static void __exit rp_exit(void)
{
	rp_netlink_exit();
	rp_device_exit();
	rp_port_exit();
	rp_qp_exit();
	rp_tx_exit();
}

module_init(rp_init);
module_exit(rp_exit);

MODULE_DESCRIPTION("One RoCE queue pair over every path");
MODULE_AUTHOR("The rocepath authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(RP_VERSION);
MODULE_ALIAS_GENL_FAMILY(ROCEPATH_FAMILY_NAME);
MODULE_SOFTDEP("pre: ib_core");
