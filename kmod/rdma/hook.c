// SPDX-License-Identifier: GPL-2.0
/*
 * Probes on ib_core's entry points, where user and kernel QPs of every driver
 * pass. A handler may change the attributes in place: they are ib_core's own copy, or
 * a kernel caller's, and the driver has not read them yet.
 *
 * A handler cannot sleep. Where the end of a QP has to wait for somebody who acts on it, which is
 * rare, the handler has the caller go on in hook_destroy_later() instead, as the caller's own
 * call (Documentation/trace/kprobes.rst, "Changing Execution Path"), which waits, and then calls
 * again. Who is in there when the module goes is waited for, and so is the last of its
 * instructions, by a grace period of RCU tasks.
 */
#include "hook.h"

#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include "qp.h"

static const char *hook_reason = "not placed yet";

/* ib_modify_qp(qp, attr, mask), ib_modify_qp_with_udata(qp, attr, mask, udata) */
static int hook_modify(struct kprobe *probe, struct pt_regs *regs)
{
	struct ib_qp *qp = (struct ib_qp *)regs_get_kernel_argument(regs, 0);
	struct ib_qp_attr *attr = (struct ib_qp_attr *)regs_get_kernel_argument(regs, 1);
	int mask = (int)regs_get_kernel_argument(regs, 2);

	rp_rdma_qp_modify(qp->real_qp, attr, mask);
	return 0;
}

static atomic_t hook_later;		/* callers in hook_destroy_later() */
static DECLARE_WAIT_QUEUE_HEAD(hook_left);

/* in the place of ib_destroy_qp_user(), by its caller */
static int hook_destroy_later(struct ib_qp *qp, struct ib_udata *udata)
{
	int err;

	rp_rdma_qp_wait(qp);
	err = ib_destroy_qp_user(qp, udata);
	if (atomic_dec_and_test(&hook_later))
		wake_up_all(&hook_left);
	return err;
}

/* ib_destroy_qp_user(qp, udata) */
static int hook_destroy(struct kprobe *probe, struct pt_regs *regs)
{
	struct ib_qp *qp = (struct ib_qp *)regs_get_kernel_argument(regs, 0);

	/* an XRC target that was opened a second time: the QP itself stays */
	if (qp->real_qp != qp || !rp_rdma_qp_destroy(qp))
		return 0;
	atomic_inc(&hook_later);
	instruction_pointer_set(regs, (unsigned long)hook_destroy_later);
	return 1;
}

static struct kprobe hooks[] = {
	{ .symbol_name = "ib_modify_qp", .pre_handler = hook_modify },
	{ .symbol_name = "ib_modify_qp_with_udata", .pre_handler = hook_modify },
	{ .symbol_name = "ib_destroy_qp_user", .pre_handler = hook_destroy },
};

static int hooks_placed;

/**
 * rp_rdma_hook_reason() - why QPs are not seen
 *
 * Context: any.
 * Return: NULL: they are.
 */
const char *rp_rdma_hook_reason(void)
{
	return hook_reason;
}

static void hooks_remove(void)
{
	while (hooks_placed)
		unregister_kprobe(&hooks[--hooks_placed]);
}

/**
 * rp_rdma_hook_init() - begin to see QPs
 *
 * Where that cannot be, devices are shown, and nothing is steered. All or none: a QP whose
 * end is not seen must not be looked after.
 */
void rp_rdma_hook_init(void)
{
	int err;

	for (; hooks_placed < ARRAY_SIZE(hooks); hooks_placed++) {
		err = register_kprobe(&hooks[hooks_placed]);
		if (err) {
			hook_reason = err == -ENOENT ?
				"ib_core has changed: a function is missing" :
				"the kernel does not allow kprobes";
			pr_warn("rocepath_rdma: cannot probe %s (error %d): QPs are not seen, and nothing is steered\n",
				hooks[hooks_placed].symbol_name, err);
			hooks_remove();
			return;
		}
	}
	hook_reason = NULL;
}

/** rp_rdma_hook_exit() - see no more QPs; waits until no handler runs. */
void rp_rdma_hook_exit(void)
{
	hooks_remove();
	wait_event(hook_left, !atomic_read(&hook_later));
	synchronize_rcu_tasks();
}
