// SPDX-License-Identifier: GPL-2.0
/*
 * The MTU that QPs of a port may use is in no file and in no netlink message. libibverbs
 * knows; it is loaded when it is there, for the tool works without it as well.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "verbs.h"

/* what is needed of it; ibv_query_port() is a macro, too, that asks for more than there was once */
struct library {
	void *handle;
	struct ibv_device **(*get_device_list)(int *count);
	void (*free_device_list)(struct ibv_device **list);
	const char *(*get_device_name)(struct ibv_device *device);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*close_device)(struct ibv_context *context);
	int (*query_port)(struct ibv_context *context, uint8_t port, void *attr);
};

/* @function: a pointer to one; POSIX has no other way from data to functions */
static bool find(const struct library *l, void *function, const char *name)
{
	void *found = l->handle ? dlsym(l->handle, name) : NULL;

	memcpy(function, &found, sizeof(found));
	return found;
}

static int open_library(struct library *l)
{
	l->handle = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
	if (find(l, &l->get_device_list, "ibv_get_device_list") &&
	    find(l, &l->free_device_list, "ibv_free_device_list") &&
	    find(l, &l->get_device_name, "ibv_get_device_name") &&
	    find(l, &l->open_device, "ibv_open_device") &&
	    find(l, &l->close_device, "ibv_close_device") &&
	    find(l, &l->query_port, "ibv_query_port"))
		return 0;
	if (l->handle)
		dlclose(l->handle);
	return -ENOENT;
}

static struct ibv_device *find_device(const struct library *l, struct ibv_device **list,
				      const char *name)
{
	for (; list && *list; list++)
		if (!strcmp(l->get_device_name(*list), name))
			return *list;
	return NULL;
}

static int query(const struct library *l, struct ibv_device *device, uint32_t port,
		 uint32_t *active)
{
	struct ibv_context *context = device ? l->open_device(device) : NULL;
	struct ibv_port_attr attr = { .active_mtu = 0 };
	int err;

	if (!context)
		return -ENODEV;
	err = -l->query_port(context, port, &attr);
	l->close_device(context);
	if (!err && (attr.active_mtu < IBV_MTU_256 || attr.active_mtu > IBV_MTU_4096))
		return -EPROTO;
	*active = 128u << attr.active_mtu;
	return err;
}

/**
 * rp_verbs_mtu() - the MTU that QPs of a port may use
 * @device: name of the RDMA device
 * @port: its port
 * @active: bytes of data in a packet
 *
 * Return: 0 or a negative error number; -ENOENT: there is no libibverbs.
 */
int rp_verbs_mtu(const char *device, uint32_t port, uint32_t *active)
{
	struct ibv_device **list;
	struct library l;
	int err = open_library(&l);

	if (err)
		return err;
	list = l.get_device_list(NULL);
	err = query(&l, find_device(&l, list, device), port, active);
	if (list)
		l.free_device_list(list);
	dlclose(l.handle);
	return err;
}
