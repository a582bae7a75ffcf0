// SPDX-License-Identifier: GPL-2.0
/* What `qp show` says of how fast a QP may send: the least rate that holds, as it is now. */
/* SOURCES: user/limit.c */
#include "unit.h"

#include <rocepath/policy_derive.h>

#include "dcqcn.h"

#include "../../user/limit.h"

#define MBYTE 1000000ull
#define SEC RP_NSEC_PER_SEC

static struct rp_policy policy;
static struct rp_qp_tx tx;
static struct rp_pacer pacer, total;

static void begin(void)
{
	memset(&policy, 0, sizeof(policy));
	memset(&tx, 0, sizeof(tx));
	memset(&pacer, 0, sizeof(pacer));
	memset(&total, 0, sizeof(total));
	policy.class_count = 2;
	policy.generation = 1;
	policy.dcqcn = (struct rp_dcqcn_params){
		.rpg_time_reset_us = 300, .rpg_threshold = 1, .rpg_gd = 11,
		.rpg_ai_rate_bytes_per_s = MBYTE, .rpg_hai_rate_bytes_per_s = MBYTE,
		.rpg_min_dec_fac_pct = 50, .line_rate_bytes_per_s = 1000 * MBYTE,
		.dce_tcp_g = 1019, .dce_tcp_rtt_us = 1, .initial_alpha_value = 1023,
	};
	tx.class = 1;
}

static void is(u64 rate, const char *why, u64 now)
{
	struct rp_limit limit;

	rp_policy_derive(&policy);
	limit = rp_limit_of(&policy, &tx, &pacer, &total, now);
	assert_string_equal(limit.why, why);
	assert_in_range(limit.rate_bytes_per_s, rate - rate / 1000, rate + rate / 1000);
}

static void the_least_one_holds(void **state)
{
	begin();
	is(0, "unlimited", SEC);
	policy.total_rate.rate_bytes_per_s = 400 * MBYTE;
	is(400 * MBYTE, "pacing rate", SEC);
	policy.class[1].class_rate.rate_bytes_per_s = 300 * MBYTE;
	is(300 * MBYTE, "class rate", SEC);
	policy.class[1].qp_rate.rate_bytes_per_s = 200 * MBYTE;
	is(200 * MBYTE, "qp-rate", SEC);
	/* what it shares with others is that much less */
	pacer.sharing = 4;
	pacer.were_active = 4;
	pacer.share_ns_per_byte_q20 = (SEC << 20) / (75 * MBYTE);
	is(75 * MBYTE, "class rate", SEC);
	tx.class = RP_CLASSES_MAX;			/* nothing was sent yet */
	is(400 * MBYTE, "pacing rate", SEC);
}

/* the rate of the last packet is not that of a QP that has been silent since */
static void time_goes_on(void **state)
{
	begin();
	policy.class[1].flags = RP_CLASS_DCQCN;
	rp_dcqcn_cnp(&tx.dcqcn, &policy.dcqcn, SEC);
	is(500 * MBYTE, "cut by a CNP", SEC);
	is(750 * MBYTE, "additive increase", SEC + 300000);
	is(0, "unlimited", 100 * SEC);
	assert_int_equal(tx.dcqcn.why, RP_DCQCN_CUT);	/* only looked at */
	/* its class has no DCQCN any more */
	policy.class[1].flags = 0;
	is(0, "unlimited", SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_one_holds),
		cmocka_unit_test(time_goes_on),
	};

	return unit_run(tests);
}
