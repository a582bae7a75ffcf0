// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include <linux/genetlink.h>

#include "attrs.h"
#include "units.h"

_Static_assert(ROCEPATH_A_DEVICE_MAX < RP_ATTRS_MAX, "the largest set");

/**
 * rp_attr_field() - what a set knows of an attribute
 * @set: the set
 * @attr: its type
 *
 * Return: NULL when it is not in the set.
 */
const struct rp_field *rp_attr_field(const struct rp_set *set, uint16_t attr)
{
	for (unsigned int i = 0; i < set->count; i++)
		if (set->fields[i].attr == attr)
			return &set->fields[i];
	return NULL;
}

/* what a newer kernel adds is passed over; what is there must be well formed */
static int take(const struct rp_set *set, const struct nlattr *attr, struct rp_attrs *attrs)
{
	const struct rp_field *field = rp_attr_field(set, mnl_attr_get_type(attr));

	if (!field)
		return 0;
	if (field->wire == MNL_TYPE_BINARY ? mnl_attr_get_payload_len(attr) != field->len :
	    mnl_attr_validate(attr, field->wire) < 0)
		return -EBADMSG;
	attrs->at[field->attr] = attr;
	return 0;
}

/**
 * rp_attrs_message() - sort and check the attributes of a message
 * @set: what the message may hold
 * @nlh: the message
 * @attrs: pointers into it
 *
 * Return: 0 or -EBADMSG.
 */
int rp_attrs_message(const struct rp_set *set, const struct nlmsghdr *nlh, struct rp_attrs *attrs)
{
	const struct nlattr *attr;
	int err;

	memset(attrs, 0, sizeof(*attrs));
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN) {
		err = take(set, attr, attrs);
		if (err)
			return err;
	}
	return 0;
}

/**
 * rp_attrs_nested() - sort and check the attributes inside another
 * @set: what it may hold
 * @nest: the outer attribute
 * @attrs: pointers into it
 *
 * Return: 0 or -EBADMSG.
 */
int rp_attrs_nested(const struct rp_set *set, const struct nlattr *nest, struct rp_attrs *attrs)
{
	const struct nlattr *attr;
	int err;

	memset(attrs, 0, sizeof(*attrs));
	mnl_attr_for_each_nested(attr, nest) {
		err = take(set, attr, attrs);
		if (err)
			return err;
	}
	return 0;
}

/**
 * rp_attr_number() - the value of a numeric attribute
 * @attrs: of a message
 * @attr: its type
 *
 * Return: 0 when it is absent.
 */
uint64_t rp_attr_number(const struct rp_attrs *attrs, uint16_t attr)
{
	const struct nlattr *found = attrs->at[attr];

	if (!found)
		return 0;
	switch (mnl_attr_get_payload_len(found)) {
	case sizeof(uint8_t):
		return mnl_attr_get_u8(found);
	case sizeof(uint32_t):
		return mnl_attr_get_u32(found);
	case sizeof(uint64_t):
		return mnl_attr_get_u64(found);
	default:
		return 0;
	}
}

/**
 * rp_attr_string() - the value of a string attribute
 * @attrs: of a message
 * @attr: its type
 *
 * Return: "" when it is absent.
 */
const char *rp_attr_string(const struct rp_attrs *attrs, uint16_t attr)
{
	return attrs->at[attr] ? mnl_attr_get_str(attrs->at[attr]) : "";
}

/**
 * rp_attr_address() - print an address attribute
 * @attrs: of a message
 * @attr: its type
 * @text: RP_TEXT_LEN bytes; empty when it is absent
 */
void rp_attr_address(const struct rp_attrs *attrs, uint16_t attr, char *text)
{
	*text = '\0';
	if (attrs->at[attr])
		rp_address_print(mnl_attr_get_payload(attrs->at[attr]), text);
}
