// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include "files.h"
#include "rdma_ports.h"

#define REPLY_LEN (64 * 1024)
#define DEVICES_MAX 256

struct device {
	uint32_t index;
	char name[RP_RDMA_NAME_LEN];
	bool roce;
};

struct reader {
	struct mnl_socket *socket;
	uint32_t seq;
	struct device devices[DEVICES_MAX];
	unsigned int device_count;
	const struct device *device;	/* whose ports are being read */
	struct rp_rdma_ports *ports;
	char reply[REPLY_LEN] __attribute__((aligned(8)));
};

static int dump(struct reader *r, unsigned int cmd, mnl_cb_t fn)
{
	char request[128] __attribute__((aligned(8)));
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(request);
	int ret = MNL_CB_OK;

	nlh->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd);
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	nlh->nlmsg_seq = ++r->seq;
	if (r->device)
		mnl_attr_put_u32(nlh, RDMA_NLDEV_ATTR_DEV_INDEX, r->device->index);
	if (mnl_socket_sendto(r->socket, nlh, nlh->nlmsg_len) < 0)
		return -errno;
	while (ret > MNL_CB_STOP) {
		ssize_t got = mnl_socket_recvfrom(r->socket, r->reply, sizeof(r->reply));

		if (got < 0)
			return -errno;
		ret = mnl_cb_run(r->reply, got, r->seq, mnl_socket_get_portid(r->socket), fn, r);
		if (ret < 0)
			return -errno;
	}
	return 0;
}

/* kernels that do not say what a device speaks are older than those that the module is for */
static int take_device(const struct nlmsghdr *nlh, void *data)
{
	struct reader *r = data;
	struct device *device = &r->devices[r->device_count];
	const struct nlattr *attr;

	if (r->device_count == DEVICES_MAX)
		return MNL_CB_OK;
	memset(device, 0, sizeof(*device));
	mnl_attr_for_each(attr, nlh, 0) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type == RDMA_NLDEV_ATTR_DEV_INDEX)
			device->index = mnl_attr_get_u32(attr);
		else if (type == RDMA_NLDEV_ATTR_DEV_NAME)
			snprintf(device->name, sizeof(device->name), "%s", mnl_attr_get_str(attr));
		else if (type == RDMA_NLDEV_ATTR_DEV_PROTOCOL)
			device->roce = !strcmp(mnl_attr_get_str(attr), "roce");
	}
	r->device_count++;
	return MNL_CB_OK;
}

/* what is made by software has no device of a bus below it; soft-RoCE names its netdevice */
static void find_driver(struct rp_rdma_port *port)
{
	char path[RP_FILE_PATH_LEN], target[256];
	ssize_t len;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/driver", port->device);
	len = readlink(path, target, sizeof(target) - 1);
	if (len > 0) {
		const char *slash;

		target[len] = '\0';
		slash = strrchr(target, '/');
		snprintf(port->driver, sizeof(port->driver), "%.*s",
			 (int)sizeof(port->driver) - 1, slash ? slash + 1 : target);
		return;
	}
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/parent", port->device);
	if (!access(path, F_OK))
		strcpy(port->driver, "rdma_rxe");
}

static int take_port(const struct nlmsghdr *nlh, void *data)
{
	struct reader *r = data;
	struct rp_rdma_port *port, *grown;
	const struct nlattr *attr;

	grown = reallocarray(r->ports->at, r->ports->count + 1, sizeof(*grown));
	if (!grown) {
		errno = ENOMEM;
		return MNL_CB_ERROR;
	}
	r->ports->at = grown;
	port = &grown[r->ports->count++];
	*port = (struct rp_rdma_port){ .index = r->device->index };
	memcpy(port->device, r->device->name, sizeof(port->device));
	mnl_attr_for_each(attr, nlh, 0) {
		switch (mnl_attr_get_type(attr)) {
		case RDMA_NLDEV_ATTR_PORT_INDEX:
			port->port = mnl_attr_get_u32(attr);
			break;
		case RDMA_NLDEV_ATTR_PORT_STATE:
			port->state = mnl_attr_get_u8(attr);
			break;
		case RDMA_NLDEV_ATTR_NDEV_INDEX:
			port->ifindex = mnl_attr_get_u32(attr);
			break;
		case RDMA_NLDEV_ATTR_NDEV_NAME:
			snprintf(port->netdev, sizeof(port->netdev), "%s", mnl_attr_get_str(attr));
			break;
		}
	}
	find_driver(port);
	return MNL_CB_OK;
}

/* fe80:0000:0000:0000:5054:00ff:fe00:0100 */
static bool parse_gid(const char *text, uint8_t *address)
{
	static const uint8_t none[RP_ADDRESS_LEN];
	char digits[2 * RP_ADDRESS_LEN];
	size_t len = 0;

	for (; *text && *text != '\n'; text++) {
		if (*text == ':')
			continue;
		if (len == sizeof(digits))
			return false;
		digits[len++] = *text;
	}
	return !rp_hex_parse(digits, len, address, RP_ADDRESS_LEN) &&
	       memcmp(address, none, sizeof(none));
}

/* the type of an entry whose netdevice has gone cannot be read */
static bool is_v2(const struct rp_rdma_port *port, uint32_t index)
{
	char path[RP_FILE_PATH_LEN], type[RP_TEXT_LEN];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%u/gid_attrs/types/%u",
		 port->device, port->port, index);
	return !rp_file_line(path, type, sizeof(type)) && !strcmp(type, "RoCE v2");
}

static void add_gid(struct rp_rdma_port *port, uint32_t index, const uint8_t *address)
{
	struct rp_rdma_gid *grown = reallocarray(port->gids, port->gid_count + 1, sizeof(*grown));

	if (!grown)
		return;
	port->gids = grown;
	grown += port->gid_count++;
	*grown = (struct rp_rdma_gid){ .index = index, .v2 = is_v2(port, index) };
	memcpy(grown->address, address, sizeof(grown->address));
}

/* the table has no holes that matter: an entry of zeros is a free one */
static void read_gids(struct rp_rdma_port *port)
{
	char path[RP_FILE_PATH_LEN], text[RP_TEXT_LEN];
	uint8_t address[RP_ADDRESS_LEN];

	for (uint32_t i = 0;; i++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%u/gids/%u",
			 port->device, port->port, i);
		if (rp_file_line(path, text, sizeof(text)))
			return;
		if (parse_gid(text, address))
			add_gid(port, i, address);
	}
}

static int read_all(struct reader *r)
{
	int err = dump(r, RDMA_NLDEV_CMD_GET, take_device);

	for (unsigned int i = 0; !err && i < r->device_count; i++) {
		r->device = &r->devices[i];
		if (r->device->roce)
			err = dump(r, RDMA_NLDEV_CMD_PORT_GET, take_port);
	}
	for (unsigned int i = 0; !err && i < r->ports->count; i++)
		read_gids(&r->ports->at[i]);
	return err;
}

/**
 * rp_rdma_ports_read() - read all ports that speak RoCE
 * @ports: empty
 * @error: why not
 *
 * Return: 0 or a negative error number. A host without RDMA has no port.
 */
int rp_rdma_ports_read(struct rp_rdma_ports *ports, struct rp_error *error)
{
	struct reader *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (r) {
		r->ports = ports;
		r->socket = mnl_socket_open2(NETLINK_RDMA, SOCK_CLOEXEC);
		err = !r->socket || mnl_socket_bind(r->socket, 0, MNL_SOCKET_AUTOPID) ? -errno :
		      read_all(r);
	}
	if (r && r->socket)
		mnl_socket_close(r->socket);
	free(r);
	if (err == -EPROTONOSUPPORT)	/* ib_core is not there */
		err = 0;
	if (err)
		rp_error_set(error, "RDMA netlink: %s", strerror(-err));
	return err;
}

/**
 * rp_rdma_ports_drop() - free what rp_rdma_ports_read() read
 * @ports: all
 */
void rp_rdma_ports_drop(struct rp_rdma_ports *ports)
{
	while (ports->count)
		free(ports->at[--ports->count].gids);
	free(ports->at);
	*ports = (struct rp_rdma_ports){ 0 };
}

/**
 * rp_rdma_port_is() - whether a port is meant
 * @port: the port
 * @name: of an RDMA device or a netdevice; NULL: any is
 */
bool rp_rdma_port_is(const struct rp_rdma_port *port, const char *name)
{
	return !name || !strcmp(port->device, name) || !strcmp(port->netdev, name);
}

/**
 * rp_rdma_port_gid() - find an address among those of RoCE v2
 * @port: the port
 * @address: 16 bytes
 *
 * Return: the entry or NULL.
 */
const struct rp_rdma_gid *rp_rdma_port_gid(const struct rp_rdma_port *port,
					   const uint8_t *address)
{
	for (unsigned int i = 0; i < port->gid_count; i++)
		if (port->gids[i].v2 && !memcmp(port->gids[i].address, address, RP_ADDRESS_LEN))
			return &port->gids[i];
	return NULL;
}

/**
 * rp_rdma_driver_follows() - whether a driver makes the UDP source port of the flow label
 * @driver: its name; that of the PCI device, where the RDMA driver stands on a network driver
 *
 * Those that call rdma_get_udp_sport() or rdma_flow_label_to_udp_sport() when a QP is modified.
 */
enum rp_rdma_follows rp_rdma_driver_follows(const char *driver)
{
	static const char *const known[] = {
		"mlx5_core", "mlx5_ib", "irdma", "ice", "i40e", "mana", "mana_ib", "hns3",
		"hns_roce", "hns_roce_hw_v2", "erdma", "rdma_rxe", "ionic", "ionic_rdma",
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(driver, known[i]))
			return RP_RDMA_FOLLOWS_YES;
	return RP_RDMA_FOLLOWS_UNKNOWN;
}
