// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "steered.h"

static int keep(const struct nlmsghdr *nlh, void *data)
{
	struct rp_steered *steered = data;
	struct rp_steered_qp *qp;
	struct rp_attrs attrs;
	int err = rp_attrs_message(&rp_rdma_qp_attrs, nlh, &attrs);

	if (err)
		return err;
	if (steered->count == steered->room) {
		size_t room = 2 * steered->room + 64;
		struct rp_steered_qp *grown = reallocarray(steered->at, room, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		steered->at = grown;
		steered->room = room;
	}
	qp = &steered->at[steered->count];
	*qp = (struct rp_steered_qp){ .nlh = calloc(1, MNL_ALIGN(nlh->nlmsg_len)) };
	if (!qp->nlh)
		return -ENOMEM;
	memcpy(qp->nlh, nlh, nlh->nlmsg_len);
	rp_steered_attrs(qp, &attrs);
	qp->device = rp_attr_string(&attrs, ROCEPATH_RDMA_A_QP_DEVICE);
	qp->qpn = rp_attr_number(&attrs, ROCEPATH_RDMA_A_QP_QPN);
	steered->count++;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct rp_steered_qp *x = a, *y = b;
	int order = strcmp(x->device, y->device);

	return order ? order : (x->qpn > y->qpn) - (x->qpn < y->qpn);
}

/**
 * rp_steered_read() - read the QPs that the module has, if it is loaded
 * @steered: filled in; rp_steered_drop() frees what it holds
 */
void rp_steered_read(struct rp_steered *steered)
{
	struct rp_nl *nl = rp_rdma_is_loaded() ? rp_nl_open(&rp_rdma_family, NULL) : NULL;

	*steered = (struct rp_steered){ .there = false };
	if (!nl)
		return;
	rp_nl_request(nl, ROCEPATH_RDMA_CMD_QP_GET);
	steered->there = !rp_nl_dump(nl, keep, steered);
	if (steered->count)
		qsort(steered->at, steered->count, sizeof(*steered->at), compare);
	rp_nl_release(nl);
}

/**
 * rp_steered_drop() - free what rp_steered_read() read
 * @steered: all QPs
 */
void rp_steered_drop(struct rp_steered *steered)
{
	while (steered->count)
		free(steered->at[--steered->count].nlh);
	free(steered->at);
}

/**
 * rp_steered_find() - find a QP, and note that somebody asked for it
 * @steered: all QPs
 * @device: name of its RDMA device
 * @qpn: its number
 *
 * Return: the QP or NULL.
 */
struct rp_steered_qp *rp_steered_find(const struct rp_steered *steered, const char *device,
				      uint32_t qpn)
{
	const struct rp_steered_qp wanted = { .device = device, .qpn = qpn };
	struct rp_steered_qp *qp = steered->count ?
		bsearch(&wanted, steered->at, steered->count, sizeof(wanted), compare) : NULL;

	if (qp)
		qp->found = true;
	return qp;
}

/**
 * rp_steered_attrs() - what the module said of a QP
 * @qp: the QP; NULL: one that the module does not have
 * @attrs: the attributes; none, for NULL
 */
void rp_steered_attrs(const struct rp_steered_qp *qp, struct rp_attrs *attrs)
{
	if (!qp || rp_attrs_message(&rp_rdma_qp_attrs, qp->nlh, attrs))
		memset(attrs, 0, sizeof(*attrs));
}
