/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The programs' parser, compiled for this machine, on a frame of which the first @linear bytes
 * are in one piece.
 */
#ifndef ROCEPATH_BPF_NATIVE_H
#define ROCEPATH_BPF_NATIVE_H

#include "roce_packet.h"

/* a frame is no longer than that */
#define FRAME_MAX 4096

/**
 * parse_by_xdp() - as XDP programs have it
 * @frame: @len bytes
 * @linear: of these, to be read in place
 * @p: filled in on RP_ROCE_FRAME
 */
enum rp_verdict parse_by_xdp(const u8 *frame, u32 len, u32 linear, struct rp_packet *p);

/** parse_by_tc() - the same for tc. */
enum rp_verdict parse_by_tc(const u8 *frame, u32 len, u32 linear, struct rp_packet *p);

/** parse_by_tc_quickly() - the same for tc, in line, with all that may be wanted. */
enum rp_verdict parse_by_tc_quickly(const u8 *frame, u32 len, u32 linear, struct rp_packet *p);

#endif /* ROCEPATH_BPF_NATIVE_H */
