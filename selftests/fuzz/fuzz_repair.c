// SPDX-License-Identifier: GPL-2.0
/* The queue that repairs come from beside its naive model; the fuzzer chooses the steps. */
/* SOURCES: kmod/core/repair.c selftests/unit/repair_model.c selftests/unit/repair_pair.c */
#include "input.h"
#include "repair_pair.h"

void repair_pair_failed(const char *how)
{
	crash(how);
}

/* around the oldest or the newest one, or anywhere */
static u32 psn(struct input *in, const struct repair_pair *p)
{
	u32 how = byte(in);
	const struct rp_sent *near = how & 1 ? p->r.newest : p->r.oldest;
	u32 from = near ? near->psn : 0;

	if (how < 0xd0)
		return rp_psn_add(from, (s32)how / 2 - 16);
	if (how < 0xe0)
		return rp_psn_add(from, (s32)word(in) - 0x4000);
	return word(in) << 8 | byte(in);
}

static void send_one(struct input *in, struct repair_pair *p, u32 span)
{
	u32 end = p->r.newest ? rp_psn_add(p->r.newest->psn, p->r.newest->span) : word(in) << 8;
	u32 how = byte(in);

	if (how >= 0xf0)
		end = psn(in, p);
	repair_pair_sent(p, end, span, 64 + (how & 0x38) * 16, how % REPAIR_PATHS);
}

static void report(struct input *in, struct repair_pair *p)
{
	u32 held[4], words = byte(in) % 5, expected = psn(in, p), i;

	for (i = 0; i < words; i++)
		held[i] = word(in) << 16 | word(in);
	repair_pair_reported(p, expected, held, words);
	repair_pair_settle(p, p->r.told + byte(in) - 64);
}

static void find_lost(struct input *in, struct repair_pair *p)
{
	struct rp_repair_clock clock = {
		.now_ns = p->now, .slack_us = byte(in), .spread_us = byte(in) * 4,
		.round_us = byte(in) * 4, .tail_us = byte(in) * 16,
	};

	clock.arrived_ns = p->now - min((u64)word(in) * 16, p->now);
	repair_pair_find_lost(p, psn(in, p), &clock);
}

static void renumber(struct input *in, struct repair_pair *p)
{
	u32 turn = byte(in), new = byte(in), i;
	u16 now[REPAIR_PATHS];

	for (i = 0; i < REPAIR_PATHS; i++)
		now[i] = new >> i & 1 ? RP_REPAIR_NO_PATH : (i + turn) % REPAIR_PATHS;
	repair_pair_renumber(p, now);
}

static void step(struct input *in, struct repair_pair *p)
{
	u32 how = byte(in);

	p->now += 1 + (how >> 4) * 10000;
	switch (how % 16) {
	case 0:
		repair_pair_acked(p, psn(in, p));
		break;
	case 1:
	case 2:
		report(in, p);
		break;
	case 3:
	case 4:
		find_lost(in, p);
		break;
	case 5:
		repair_pair_path_failed(p, byte(in));
		break;
	case 6:
	case 7:
		repair_pair_resend(p, byte(in), byte(in) % REPAIR_PATHS);
		break;
	case 8:
		repair_pair_take_paths(p);
		break;
	case 9:
		send_one(in, p, 1 + word(in));
		break;
	case 10:
		send_one(in, p, 1 + (word(in) << 7));
		break;
	case 11:
		renumber(in, p);
		break;
	default:
		send_one(in, p, 1);
	}
	repair_pair_compare(p);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	u32 kind = byte(&in);
	struct rp_repair_caps caps = {
		.packets = kind & 1 ? 6 : REPAIR_PACKETS, .bytes = kind & 2 ? 3000 : 1 << 20,
	};
	struct repair_pair *p = repair_pair_new(&caps);

	while (in.left)
		step(&in, p);
	repair_pair_free(p);
	return 0;
}
