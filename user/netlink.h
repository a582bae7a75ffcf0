/* SPDX-License-Identifier: GPL-2.0 */
/* Talking to the generic netlink families "rocepath" and "rocepath_rdma". */
#ifndef ROCEPATH_USER_NETLINK_H
#define ROCEPATH_USER_NETLINK_H

#include <stdint.h>

#include <libmnl/libmnl.h>
#include <linux/rocepath.h>
#include <linux/rocepath_rdma.h>

#include "args.h"
#include "error.h"

struct rp_nl;

/* gets one message of the family; what it returns, if not 0, ends the walk */
typedef int (*rp_nl_fn)(const struct nlmsghdr *nlh, void *data);

/**
 * struct rp_family - a family, and the module that it is of
 * @name: of both
 * @version: that the tool speaks
 * @group: of its events
 */
struct rp_family {
	const char *name;
	uint8_t version;
	const char *group;
};

extern const struct rp_family rp_rdma_family;

struct rp_nl *rp_nl_new(struct rp_error *error);
struct rp_nl *rp_nl_open(const struct rp_family *family, struct rp_error *error);
void rp_nl_release(struct rp_nl *nl);

struct nlmsghdr *rp_nl_request(struct rp_nl *nl, uint8_t cmd);
int rp_nl_do(struct rp_nl *nl, rp_nl_fn fn, void *data);
int rp_nl_dump(struct rp_nl *nl, rp_nl_fn fn, void *data);
int rp_nl_listen(struct rp_nl *nl, rp_nl_fn fn, void *data);
int rp_nl_wait(struct rp_nl *nl, uint64_t timeout_us, rp_nl_fn fn, void *data);
int rp_nl_subscribe(struct rp_nl *nl);
int rp_nl_fd(const struct rp_nl *nl);
void rp_nl_forget(struct rp_nl *nl);

const char *rp_nl_message(const struct rp_nl *nl);
uint32_t rp_nl_version(const struct rp_nl *nl);
int rp_nl_explain(const struct rp_nl *nl, int err, const struct rp_args *args, const char *subject);

#endif /* ROCEPATH_USER_NETLINK_H */
