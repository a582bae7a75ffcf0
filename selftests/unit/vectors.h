/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Packets from elsewhere: the hex files of roce-vectors, and captures (pcap) of
 * rdma_rxe that the project made itself.
 */
#ifndef ROCEPATH_UNIT_VECTORS_H
#define ROCEPATH_UNIT_VECTORS_H

#include <rocepath/types.h>

/**
 * struct frame - one Ethernet frame
 * @file: base name of the file that it is from
 * @name: its name there, or its number
 * @data: @len bytes, allocated at exactly that size
 * @len: how many
 */
struct frame {
	char file[64];
	char name[128];
	u8 *data;
	u32 len;
};

struct frames {
	struct frame *frame;
	u32 count;
};

/**
 * vectors_dir() - where roce-vectors is: ROCEPATH_VECTORS, or beside the project; NULL if it
 * is not there.
 */
const char *vectors_dir(void);

/** captures_dir() - where the project's own captures are. */
const char *captures_dir(void);

/**
 * frames_load() - add all frames of the files that match
 * @f: added to
 * @dir: the folder
 * @suffix: ".hex" or ".pcap"
 *
 * Fails the test when a file cannot be read or is not what its name says.
 */
void frames_load(struct frames *f, const char *dir, const char *suffix);

void frames_free(struct frames *f);

/**
 * frames_find() - the frame whose name is or starts with the word(s) @name, NULL if there is
 * none.
 */
const struct frame *frames_find(const struct frames *f, const char *name);

/**
 * frame_l3() - skip Ethernet and VLAN tags
 * @f: the frame
 * @tags: number of VLAN tags, may be NULL
 *
 * Return: bytes before the IP header, or 0 where there is no IP.
 */
u32 frame_l3(const struct frame *f, u32 *tags);

/**
 * hex_bytes() - read hex digits, white space between them. Return: bytes written to @out, at
 * most @max.
 */
u32 hex_bytes(const char *text, u8 *out, u32 max);

#endif /* ROCEPATH_UNIT_VECTORS_H */
