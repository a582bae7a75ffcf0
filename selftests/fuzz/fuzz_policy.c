// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes are either a policy or have something wrong with them that is said. What is a
 * policy can be printed, read again, and is the same; and programs can be given what it
 * compiles to.
 */
/* SOURCES: user/policy/model.c user/policy/read.c user/policy/schema.c user/policy/value.c */
/* SOURCES: user/policy/source.c user/policy/check.c user/policy/print.c user/policy/compile.c */
/* SOURCES: user/policy/diff.c user/json.c user/units.c user/words.c user/error.c */
/* SOURCES: user/policy/warn.c user/policy/rdma.c */
/* LIBS: -lyaml -lmnl */
/* SEEDS: docs/examples */
#include "../../user/policy/compile.h"
#include "input.h"

#define LINE_RATE 12500000000ull

/* Return: the policy, NULL: it is none, and @complaints says why */
static struct rp_spec *policy(const char *text, size_t len, FILE *complaints)
{
	struct rp_report report = { .out = complaints };
	struct rp_spec *spec = rp_spec_new();
	int err = rp_spec_read(spec, rp_source_new("fuzz", text, len), &report);

	if (!err != !report.errors)
		crash("wrong, and nothing is said of it");
	if (!err)
		rp_spec_check(spec, &report);
	if (!report.errors)
		return spec;
	rp_spec_release(spec);
	return NULL;
}

static void check_compiled(const struct rp_spec *spec)
{
	struct rp_policy *p = calloc(1, sizeof(*p));

	rp_compile(spec, NULL, LINE_RATE, p);
	if (!p->class_count || p->class_count > RP_CLASSES_MAX || p->rule_count > RP_RULES_MAX ||
	    p->default_class >= p->class_count || p->size_bounds > RP_SIZE_BOUNDS_MAX)
		crash("programs would read beyond it");
	for (u32 i = 0; i < p->rule_count; i++)
		if (p->rule_class[i] >= p->class_count || p->rule[i].number >= RP_RULES_MAX ||
		    p->rule_number[i] != p->rule[i].number)
			crash("a rule leads nowhere");
	free(p);
}

static void check_again(const struct rp_spec *spec)
{
	size_t len, said;
	char *text, *changes;
	FILE *out = open_memstream(&text, &len);
	struct rp_spec *again;

	rp_spec_print(spec, out);
	fclose(out);
	again = policy(text, len, stderr);
	if (!again)
		crash("what was printed is no policy");
	out = open_memstream(&changes, &said);
	if (rp_spec_diff(spec, again, out)) {
		fflush(out);
		fputs(changes, stderr);
		crash("what was printed is another policy");
	}
	fclose(out);
	rp_spec_release(again);
	free(changes);
	free(text);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static FILE *complaints;
	struct rp_spec *spec;

	if (!complaints)
		complaints = fopen("/dev/null", "w");
	spec = policy((const char *)data, size, complaints);
	if (!spec)
		return 0;
	rp_spec_warn(spec, &(struct rp_report){ .out = complaints });
	check_again(spec);
	rp_spec_fill(spec);
	check_again(spec);
	check_compiled(spec);
	rp_spec_release(spec);
	return 0;
}
