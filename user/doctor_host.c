// SPDX-License-Identifier: GPL-2.0
/* Findings about the host: kernel, modules, limits. See doctor.h. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"

#define BACKLOG 1000		/* the kernel's own */
#define BACKLOG_FULL 10000	/* where that was too short */
#define LOCKED (64ull << 20)	/* of a process; one QP with its buffers takes about one MiB */

const char *const rp_doctor_state_names[RP_DOCTOR_STATES] = { "ok", "unknown", "warn", "bad" };

/**
 * rp_doctor_fix() - say what would mend it; before rp_doctor_find()
 * @finding: the finding
 * @format: as of printf()
 */
void rp_doctor_fix(struct rp_finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->fix, sizeof(finding->fix), format, args);
	va_end(args);
}

/**
 * rp_doctor_find() - tell a finding
 * @d: who is told
 * @finding: the finding, but for its text
 * @format: as of printf()
 */
void rp_doctor_find(const struct rp_doctor *d, struct rp_finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->found, sizeof(finding->found), format, args);
	va_end(args);
	d->fn(d->data, finding);
}

static struct rp_finding of_host(const char *what, enum rp_doctor_state state)
{
	return (struct rp_finding){ .what = what, .on = "host", .state = state };
}

static void judge_kernel(const struct rp_doctor *d)
{
	const struct rp_doctor_facts *f = d->facts;
	struct rp_finding finding = of_host("kernel", RP_DOCTOR_OK);

	if (!f->btf) {
		finding.state = RP_DOCTOR_WARN;
		rp_doctor_fix(&finding, "boot a kernel with CONFIG_DEBUG_INFO_BTF");
		rp_doctor_find(d, &finding, "%s has no BTF: no policy can be applied", f->release);
	} else if (!f->kprobes) {
		finding.state = RP_DOCTOR_WARN;
		rp_doctor_fix(&finding, "boot a kernel with CONFIG_KPROBES");
		rp_doctor_find(d, &finding,
			       "%s has no kprobes: QPs are not seen, nothing is sprayed or steered",
			       f->release);
	} else if (!f->tcx) {
		finding.state = RP_DOCTOR_WARN;
		rp_doctor_fix(&finding, "apply a policy before jobs start");
		rp_doctor_find(d, &finding,
			       "%s has no TCX (6.6): the first apply may end QPs that run",
			       f->release);
	} else {
		rp_doctor_find(d, &finding, "%s has BTF, kprobes%s", f->release,
			       f->tcx > 0 ? " and TCX" : "; TCX may only be asked for by root");
	}
}

static bool takes_only_signed(const struct rp_doctor_facts *f)
{
	return f->sig_enforce > 0 || !strcmp(f->lockdown, "integrity") ||
	       !strcmp(f->lockdown, "confidentiality");
}

static void judge_signing(const struct rp_doctor *d)
{
	const struct rp_doctor_facts *f = d->facts;
	struct rp_finding finding = of_host("signing", RP_DOCTOR_OK);
	const struct rp_doctor_module *refused = NULL, *unseen = NULL;

	for (unsigned int i = 0; i < RP_DOCTOR_MODULES; i++) {
		const struct rp_doctor_module *m = &f->modules[i];

		if (!m->loaded && m->file == RP_DOCTOR_UNSIGNED)
			refused = m;
		else if (!m->loaded && m->file != RP_DOCTOR_SIGNED)
			unseen = m;
	}
	if (!takes_only_signed(f)) {
		if (f->sig_enforce < 0 && !*f->lockdown)
			finding.state = RP_DOCTOR_NOT_KNOWN;
		rp_doctor_find(d, &finding, finding.state == RP_DOCTOR_OK ?
			       "the kernel takes modules that are not signed" :
			       "the kernel does not say whether modules must be signed");
	} else if (refused) {
		finding.state = RP_DOCTOR_BAD;
		rp_doctor_fix(&finding,
			      "mokutil --import /var/lib/dkms/mok.pub, reboot, and: dkms install --force rocepath/%s",
			      f->tool);
		rp_doctor_find(d, &finding, "the kernel takes only signed modules, %s.ko is not",
			       refused->name);
	} else if (unseen) {
		finding.state = RP_DOCTOR_NOT_KNOWN;
		rp_doctor_find(d, &finding,
			       "the kernel takes only signed modules; of %s.ko it is not seen",
			       unseen->name);
	} else {
		rp_doctor_find(d, &finding, "the kernel takes only signed modules; ours are");
	}
	if (strcmp(f->lockdown, "confidentiality"))
		return;
	finding = of_host("lockdown", RP_DOCTOR_WARN);
	rp_doctor_fix(&finding, "boot with lockdown=integrity");
	rp_doctor_find(d, &finding, "of confidentiality: rules about QPs match nothing");
}

/* is there a device whose data passes the kernel by? */
static bool has_offload(const struct rp_doctor_facts *f)
{
	for (unsigned int i = 0; i < f->port_count; i++)
		if (f->ports[i].selected && strcmp(f->ports[i].rdma.driver, "rdma_rxe"))
			return true;
	return false;
}

static const char *needed_for(const struct rp_doctor_facts *f, unsigned int module)
{
	if (module == RP_DOCTOR_DEVICE_MODULE)
		return "only rocepath devices need it";
	return has_offload(f) ? "QPs of NICs are not steered, their paths not watched" :
				"no NIC here that needs it";
}

static void judge_module(const struct rp_doctor *d, unsigned int i)
{
	const struct rp_doctor_module *m = &d->facts->modules[i];
	struct rp_finding finding = of_host("module", RP_DOCTOR_OK);
	bool wanted = i == RP_DOCTOR_RDMA_MODULE && has_offload(d->facts);

	if (m->loaded && *m->version && strcmp(m->version, d->facts->tool)) {
		finding.state = RP_DOCTOR_BAD;
		rp_doctor_fix(&finding, "dkms install rocepath/%s && modprobe -r %s && modprobe %s",
			      d->facts->tool, m->name, m->name);
		rp_doctor_find(d, &finding, "%s is version %s, the tool %s", m->name, m->version,
			       d->facts->tool);
	} else if (m->loaded) {
		if (!*m->version)
			finding.state = RP_DOCTOR_NOT_KNOWN;
		rp_doctor_find(d, &finding, "%s is loaded, version %s", m->name,
			       *m->version ? m->version : "not known");
	} else {
		if (wanted)
			finding.state = RP_DOCTOR_WARN;
		if (wanted && m->file == RP_DOCTOR_NO_MODULE)
			rp_doctor_fix(&finding, "dkms install rocepath/%s && modprobe %s",
				      d->facts->tool, m->name);
		else if (wanted)
			rp_doctor_fix(&finding, "modprobe %s", m->name);
		rp_doctor_find(d, &finding, "%s is not %s; %s", m->name,
			       m->file == RP_DOCTOR_NO_MODULE ? "installed" : "loaded",
			       needed_for(d->facts, i));
	}
}

static void judge_backlog(const struct rp_doctor *d)
{
	const struct rp_doctor_facts *f = d->facts;
	int64_t least = f->dropped > 0 ? BACKLOG_FULL : BACKLOG;
	struct rp_finding finding = of_host("backlog", RP_DOCTOR_OK);

	if (f->backlog < 0) {
		finding.state = RP_DOCTOR_NOT_KNOWN;
		rp_doctor_find(d, &finding, "net.core.netdev_max_backlog cannot be read");
	} else if (f->backlog < least) {
		finding.state = RP_DOCTOR_WARN;
		rp_doctor_fix(&finding, "sysctl -w net.core.netdev_max_backlog=%" PRId64, least);
		if (f->dropped > 0)
			rp_doctor_find(d, &finding, "%" PRId64 " packets were dropped at %" PRId64,
				       f->dropped, f->backlog);
		else
			rp_doctor_find(d, &finding, "of %" PRId64 " packets is short", f->backlog);
	} else {
		rp_doctor_find(d, &finding, "%" PRId64 " packets", f->backlog);
	}
}

static void judge_limits(const struct rp_doctor *d)
{
	const struct rp_doctor_facts *f = d->facts;
	struct rp_finding finding = of_host("jit", RP_DOCTOR_OK);
	char bytes[RP_TEXT_LEN];

	judge_backlog(d);
	if (!f->jit) {
		finding.state = RP_DOCTOR_WARN;
		rp_doctor_fix(&finding, "sysctl -w net.core.bpf_jit_enable=1");
		rp_doctor_find(d, &finding, "is off: programs of the policy are interpreted");
	} else {
		rp_doctor_find(d, &finding, f->jit > 0 ? "programs are compiled" :
			       "the kernel always compiles programs");
	}
	finding = of_host("memlock", RP_DOCTOR_OK);
	if (f->locked_bytes >= LOCKED) {
		rp_doctor_find(d, &finding, "enough, in this session");
		return;
	}
	rp_unit_print(RP_UNIT_BYTES, f->locked_bytes, bytes);
	finding.state = RP_DOCTOR_WARN;
	rp_doctor_fix(&finding, "ulimit -l unlimited");
	rp_doctor_find(d, &finding, "%s in this session: buffers of RDMA cannot be registered",
		       bytes);
}

static bool has_ipv6(const struct rp_doctor_facts *f)
{
	for (unsigned int i = 0; i < f->port_count; i++)
		for (unsigned int k = 0; k < f->ports[i].address_count; k++)
			if (f->ports[i].selected &&
			    !rp_address_is_ipv4(f->ports[i].addresses[k].address))
				return true;
	return false;
}

static void judge_labels(const struct rp_doctor *d)
{
	struct rp_finding finding = of_host("flow-label", RP_DOCTOR_OK);
	int64_t labels = d->facts->auto_flowlabels;

	if (!has_ipv6(d->facts))
		return;
	if (labels < 0) {
		finding.state = RP_DOCTOR_NOT_KNOWN;
		rp_doctor_find(d, &finding, "net.ipv6.auto_flowlabels cannot be read");
	} else if (!labels) {
		finding.state = RP_DOCTOR_WARN;
		rp_doctor_fix(&finding, "sysctl -w net.ipv6.auto_flowlabels=1");
		rp_doctor_find(d, &finding,
			       "TCP and UDP have none: a fabric that hashes it has one path for them");
	} else {
		rp_doctor_find(d, &finding, "each flow of TCP and UDP has its own");
	}
}

static void judge_queues(const struct rp_doctor *d)
{
	for (unsigned int i = 0; i < d->facts->queue_count; i++) {
		const struct rp_doctor_queue *q = &d->facts->queues[i];
		struct rp_finding finding = { .what = "pacing", .on = q->netdev };

		if (q->fq) {
			rp_doctor_find(d, &finding, "fq holds packets until they may leave");
			continue;
		}
		finding.state = RP_DOCTOR_BAD;
		rp_doctor_fix(&finding, "tc qdisc replace dev %s root fq", q->netdev);
		rp_doctor_find(d, &finding, "the policy paces, but the qdisc is %s, not fq",
			       *q->kind ? q->kind : "none");
	}
}

/**
 * rp_doctor_host() - judge what is the same for all devices
 * @d: who is told
 */
void rp_doctor_host(const struct rp_doctor *d)
{
	judge_kernel(d);
	judge_signing(d);
	for (unsigned int i = 0; i < RP_DOCTOR_MODULES; i++)
		judge_module(d, i);
	judge_limits(d);
	judge_labels(d);
	judge_queues(d);
}
