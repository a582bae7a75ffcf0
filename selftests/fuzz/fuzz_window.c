// SPDX-License-Identifier: GPL-2.0
/* The reorder window beside its naive model; the fuzzer chooses the steps. */
/* SOURCES: kmod/core/window.c kmod/core/repaired.c */
/* SOURCES: selftests/unit/window_model.c selftests/unit/window_pair.c */
#include "input.h"
#include "window_pair.h"

void pair_failed(const char *how)
{
	crash(how);
}

/* near the expected PSN, or anywhere */
static u32 psn(struct input *in, const struct pair *p)
{
	u32 how = byte(in);

	if (how < 0xe0)
		return rp_psn_add(p->w.expected, (s32)how - 16);
	if (how < 0xf0)
		return rp_psn_add(p->w.expected, (s32)word(in) - 0x4000);
	return word(in) << 8 | byte(in);
}

static void step(struct input *in, struct pair *p)
{
	u32 to = psn(in, p), how = byte(in);

	p->now += 1 + (how >> 4) * 1000;
	switch (how % 16) {
	case 0:
		p->now += word(in) * 100;
		pair_expire(p);
		break;
	case 1:
		pair_seek(p, to, byte(in) & 1);
		break;
	case 2:
	case 3:
		pair_await(p, to, byte(in));
		break;
	case 4:
		pair_await(p, to, word(in));
		break;
	case 5:
		pair_release(p, byte(in) & 1);
		break;
	case 6:
		pair_buckets(p, 1u << byte(in) % 9);
		break;
	case 7:
		pair_rx(p, to, p->w.skips ? 1 : word(in), byte(in) * 16, byte(in) & 1);
		break;
	case 8:
		pair_rx(p, to, p->w.skips ? 1 : word(in) << 8, byte(in) * 16, byte(in) & 1);
		break;
	case 9:
	case 10:
		pair_rx(p, to, 1, 64, true);
		break;
	default:
		pair_rx(p, to, 1, 64, false);
	}
	pair_compare(p);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	u32 kind = byte(&in), start = word(&in) << 8 | byte(&in);
	struct rp_window_caps caps = {
		.packets = kind & 4 ? 4 : 300, .bytes = kind & 8 ? 500 : 1 << 20,
		.gap_floor_us = 10, .gap_ceiling_us = 1000,
	};
	/* UC has neither responses nor READs */
	bool responses = kind & 1, skips = (kind & 3) == 2;
	struct pair *p = pair_new(responses, start & RP_PSN_MASK, skips, &caps);

	if (!(kind & 16))
		pair_buckets(p, 64);
	while (in.left)
		step(&in, p);
	pair_free(p);
	return 0;
}
