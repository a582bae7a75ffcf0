/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the attribute sets of the family hold, and how it is shown: one table
 * for each set, from which messages are checked and rows and JSON are made.
 */
#ifndef ROCEPATH_USER_ATTRS_H
#define ROCEPATH_USER_ATTRS_H

#include <stdint.h>

#include <libmnl/libmnl.h>
#include <linux/rocepath.h>

/* how a number is meant */
enum rp_form {
	RP_FORM_PLAIN,
	RP_FORM_US,
	RP_FORM_US_AUTO,	/* 0: auto */
	RP_FORM_MS,
	RP_FORM_MS_NEVER,	/* 0: never */
	RP_FORM_AGE,		/* ms, how long ago */
	RP_FORM_BYTES,
	RP_FORM_HEX,
	RP_FORM_MASK,		/* 0: none */
	RP_FORM_PERMILLE,
	RP_FORM_PPM,
	RP_FORM_PPM_NEVER,	/* 0: never */
	RP_FORM_PART,		/* of another attribute, shown in percent of it */
	RP_FORM_OUT_OF,		/* of another attribute, shown as 6/8 */
	RP_FORM_BOOL,
	RP_FORM_ENUM,
	RP_FORM_IFINDEX,	/* shown as the name */
	RP_FORM_INSTANCE,	/* u64 that is an identity: a string in JSON */
	RP_FORM_STATS,		/* nest of rp_stats_set */
};

/**
 * struct rp_field - one attribute
 * @attr: its type
 * @wire: of its value; MNL_TYPE_BINARY is an address
 * @len: of the address: 16, or 4 for one that is IPv4
 * @form: how the number is meant
 * @key: in JSON
 * @head: of its column, NULL: not in the table
 * @of: the other attribute, for RP_FORM_PART and RP_FORM_OUT_OF
 * @names: of the enum
 * @name_count: of them
 * @nested: the set inside, for MNL_TYPE_NESTED
 */
struct rp_field {
	uint16_t attr;
	uint8_t wire;
	uint8_t form;
	uint8_t len;
	uint16_t of;
	const char *key;
	const char *head;
	const char *const *names;
	unsigned int name_count;
	const struct rp_set *nested;
};

struct rp_set {
	const struct rp_field *fields;
	unsigned int count;
};

#define RP_ATTRS_MAX 48
#define RP_SET(f) { .fields = f, .count = sizeof(f) / sizeof((f)[0]) }

/* attributes of a message by type, each known to be as its set says */
struct rp_attrs {
	const struct nlattr *at[RP_ATTRS_MAX];
};

extern const struct rp_set rp_device_attrs, rp_port_attrs, rp_peer_attrs, rp_path_attrs;
extern const struct rp_set rp_flow_attrs, rp_key_attrs, rp_class_attrs, rp_event_attrs;
extern const struct rp_set rp_stat_attrs, rp_window_attrs, rp_queue_attrs;
extern const char *const rp_entropy_names[], *const rp_port_state_names[],
	*const rp_peer_state_names[], *const rp_path_state_names[], *const rp_path_reason_names[],
	*const rp_event_names[], *const rp_qp_type_names[];

int rp_attrs_message(const struct rp_set *set, const struct nlmsghdr *nlh, struct rp_attrs *attrs);
int rp_attrs_nested(const struct rp_set *set, const struct nlattr *nest, struct rp_attrs *attrs);
uint64_t rp_attr_number(const struct rp_attrs *attrs, uint16_t attr);
const char *rp_attr_string(const struct rp_attrs *attrs, uint16_t attr);
const struct rp_field *rp_attr_field(const struct rp_set *set, uint16_t attr);
void rp_attr_address(const struct rp_attrs *attrs, uint16_t attr, char *text);

#endif /* ROCEPATH_USER_ATTRS_H */
