// SPDX-License-Identifier: GPL-2.0
/*
 * Devices are shown with and without the module: what RDMA netlink knows always, what
 * the module adds where it is loaded.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "files.h"
#include "key.h"
#include "rdma.h"
#include "rdma_ports.h"

#define ALL "all"
#define MODULE "rocepath_rdma"

/**
 * rp_rdma_is_loaded() - whether the module for RDMA devices is loaded
 *
 * To ask for its family has the kernel load it, which is for those who want something of it.
 */
bool rp_rdma_is_loaded(void)
{
	return !access("/sys/module/" MODULE, F_OK);
}

/**
 * rp_rdma_connect() - find the module for RDMA devices, or complain
 * @cli: this run
 *
 * Return: an exit code.
 */
int rp_rdma_connect(struct rp_cli *cli)
{
	struct rp_error error;

	if (cli->rdma)
		return RP_EXIT_OK;
	cli->rdma = rp_nl_open(&rp_rdma_family, &error);
	if (cli->rdma)
		return RP_EXIT_OK;
	rp_complain("%s", error.text);
	return RP_EXIT_FAILURE;
}

/* what the module says of the ports that RDMA netlink found, copied; the same numbers */
struct module_rows {
	const struct rp_rdma_ports *ports;
	struct nlmsghdr **row;
};

static int keep_row(const struct nlmsghdr *nlh, void *data)
{
	struct module_rows *rows = data;
	struct rp_attrs attrs;
	int err = rp_attrs_message(&rp_rdma_device_attrs, nlh, &attrs);

	for (unsigned int i = 0; !err && i < rows->ports->count; i++) {
		const struct rp_rdma_port *port = &rows->ports->at[i];
		const char *name = rp_attr_string(&attrs, ROCEPATH_RDMA_A_DEVICE_NAME);

		if (rows->row[i] || strcmp(port->device, name) ||
		    port->port != rp_attr_number(&attrs, ROCEPATH_RDMA_A_DEVICE_PORT))
			continue;
		rows->row[i] = calloc(1, MNL_ALIGN(nlh->nlmsg_len));
		if (!rows->row[i])
			return -ENOMEM;
		memcpy(rows->row[i], nlh, nlh->nlmsg_len);
	}
	return err;
}

static void drop_rows(struct module_rows *rows)
{
	for (unsigned int i = 0; rows->row && i < rows->ports->count; i++)
		free(rows->row[i]);
	free(rows->row);
}

/* a parameter of DCQCN, as its driver calls it */
typedef void (*dcqcn_fn)(void *data, const char *name, const char *value);

static void read_directory(const char *path, const char *prefix, dcqcn_fn fn, void *data)
{
	char file[RP_FILE_PATH_LEN + 64], value[RP_TEXT_LEN], name[RP_TEXT_LEN];
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		snprintf(file, sizeof(file), "%s/%.63s", path, entries[i]->d_name);
		snprintf(name, sizeof(name), "%s%.48s", prefix, entries[i]->d_name);
		if (entries[i]->d_type == DT_REG && !rp_file_line(file, value, sizeof(value)))
			fn(data, name, value);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* of mlx5: debugfs names the PCI device; its vendor's drivers have files of the netdevice */
static void read_dcqcn(const struct rp_rdma_port *port, dcqcn_fn fn, void *data)
{
	char path[RP_FILE_PATH_LEN], target[128], *slash;
	ssize_t len;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device", port->device);
	len = readlink(path, target, sizeof(target) - 1);
	target[len > 0 ? len : 0] = '\0';
	slash = strrchr(target, '/');
	if (slash) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/mlx5/%.32s/cc_params", slash + 1);
		read_directory(path, "", fn, data);
	}
	snprintf(path, sizeof(path), "/sys/class/net/%s/ecn/roce_rp", port->netdev);
	read_directory(path, "rp_", fn, data);
	snprintf(path, sizeof(path), "/sys/class/net/%s/ecn/roce_np", port->netdev);
	read_directory(path, "np_", fn, data);
}

static const char *state_of(const struct rp_rdma_port *port)
{
	static const char *const names[] = { "none", "down", "init", "armed", "active",
					     "active-defer" };

	return port->state < sizeof(names) / sizeof(names[0]) ? names[port->state] : "unknown";
}

/* the module has looked at the driver; without it the name tells */
static const char *follows_of(const struct rp_rdma_port *port, const struct rp_attrs *module)
{
	static const char *const names[] = { "unknown", "no", "yes" };
	uint64_t follows = rp_attr_number(module, ROCEPATH_RDMA_A_DEVICE_FOLLOWS);

	if (!follows)
		follows = rp_rdma_driver_follows(port->driver);
	return follows < sizeof(names) / sizeof(names[0]) ? names[follows] : "unknown";
}

static const char *cell(const struct rp_attrs *module, uint16_t attr, char *text)
{
	return rp_table_cell(rp_attr_field(&rp_rdma_device_attrs, attr), module->at[attr], text);
}

static void add_line(struct libscols_table *table, const struct rp_rdma_port *port,
		     const struct rp_attrs *module)
{
	char number[RP_TEXT_LEN], text[4][RP_TEXT_LEN];
	unsigned int gids = 0;

	for (unsigned int i = 0; i < port->gid_count; i++)
		gids += port->gids[i].v2;
	snprintf(number, sizeof(number), "%u", port->port);
	snprintf(text[3], sizeof(text[3]), "%u", gids);
	rp_table_line(table, (const char *const[]){
		port->device, number, *port->netdev ? port->netdev : "-",
		*port->driver ? port->driver : "-", state_of(port), text[3],
		follows_of(port, module),
		cell(module, ROCEPATH_RDMA_A_DEVICE_STEERING, text[0]),
		cell(module, ROCEPATH_RDMA_A_DEVICE_QPS, text[1]),
		cell(module, ROCEPATH_RDMA_A_DEVICE_QPS_STEERED, text[2]) }, 10);
}

static void detail_dcqcn(void *data, const char *name, const char *value)
{
	char label[RP_TEXT_LEN + 16];

	snprintf(label, sizeof(label), "dcqcn %s", name);
	rp_table_line(data, (const char *const[]){ label, value }, 2);
}

/* what RDMA netlink says of it, then the rest that the module does */
static void add_detail(struct libscols_table *table, const struct rp_rdma_port *port,
		       const struct rp_attrs *module)
{
	char text[RP_TEXT_LEN], label[RP_TEXT_LEN];

#define LINE(l, t) rp_table_line(table, (const char *const[]){ l, t }, 2)
	LINE("device", port->device);
	snprintf(text, sizeof(text), "%u", port->port);
	LINE("port", text);
	LINE("netdev", *port->netdev ? port->netdev : "-");
	LINE("driver", *port->driver ? port->driver : "-");
	LINE("state", state_of(port));
	LINE("source port follows flow label", follows_of(port, module));
	for (unsigned int i = 0; i < port->gid_count; i++) {
		rp_address_print(port->gids[i].address, text);
		snprintf(label, sizeof(label), "gid %u %s", port->gids[i].index,
			 port->gids[i].v2 ? "RoCE v2" : "RoCE v1");
		LINE(label, text);
	}
	for (unsigned int i = 0; i < rp_rdma_device_attrs.count; i++) {
		const struct rp_field *field = &rp_rdma_device_attrs.fields[i];
		const struct nlattr *attr = module->at[field->attr];

		if (attr && field->wire != MNL_TYPE_NESTED &&
		    field->attr > ROCEPATH_RDMA_A_DEVICE_FOLLOWS)
			LINE(field->key, rp_table_cell(field, attr, text));
	}
#undef LINE
	read_dcqcn(port, detail_dcqcn, table);
}

static void json_dcqcn(void *data, const char *name, const char *value)
{
	rp_json_string(data, name, value);
}

static void json_gids(struct rp_json *json, const struct rp_rdma_port *port)
{
	char text[RP_TEXT_LEN];

	rp_json_open(json, "gids", '[');
	for (unsigned int i = 0; i < port->gid_count; i++) {
		rp_json_open(json, NULL, '{');
		rp_json_number(json, "index", port->gids[i].index);
		rp_address_print(port->gids[i].address, text);
		rp_json_string(json, "address", text);
		rp_json_bool(json, "roce_v2", port->gids[i].v2);
		rp_json_close(json, '}');
	}
	rp_json_close(json, ']');
}

static void json_port(struct rp_json *json, const struct rp_rdma_port *port,
		      struct rp_attrs *module)
{
	static const uint16_t known[] = {
		ROCEPATH_RDMA_A_DEVICE_NAME, ROCEPATH_RDMA_A_DEVICE_PORT,
		ROCEPATH_RDMA_A_DEVICE_INDEX, ROCEPATH_RDMA_A_DEVICE_IFINDEX,
		ROCEPATH_RDMA_A_DEVICE_NETDEV, ROCEPATH_RDMA_A_DEVICE_DRIVER,
		ROCEPATH_RDMA_A_DEVICE_PORT_STATE, ROCEPATH_RDMA_A_DEVICE_FOLLOWS,
	};

	rp_json_open(json, NULL, '{');
	rp_json_string(json, "device", port->device);
	rp_json_number(json, "port", port->port);
	rp_json_number(json, "index", port->index);
	rp_json_number(json, "ifindex", port->ifindex);
	rp_json_string(json, "netdev", port->netdev);
	rp_json_string(json, "driver", port->driver);
	rp_json_string(json, "state", state_of(port));
	rp_json_string(json, "follows", follows_of(port, module));
	json_gids(json, port);
	rp_json_open(json, "dcqcn", '{');
	read_dcqcn(port, json_dcqcn, json);
	rp_json_close(json, '}');
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		module->at[known[i]] = NULL;
	rp_table_json(json, &rp_rdma_device_attrs, module);
	rp_json_close(json, '}');
}

struct shown {
	struct rp_json json;
	struct libscols_table *table;	/* NULL: JSON */
	bool detail;
	unsigned int count;
};

static void begin(struct shown *s, const struct rp_format *format, bool detail)
{
	static const char *const heads[] = { "DEVICE", "PORT", "NETDEV", "DRIVER", "STATE", "GIDS",
					     "FOLLOWS", "STEERING", "QPS", "STEERED", NULL };
	static const bool right[] = { false, true, false, false, false, true, false, false, true,
				      true };
	static const char *const lines[] = { "NAME", "VALUE", NULL };

	*s = (struct shown){ .json = { stdout, format->pretty, true, 0 }, .detail = detail };
	if (format->json)
		rp_json_open(&s->json, NULL, '[');
	else
		s->table = rp_table_text(detail ? lines : heads, detail ? NULL : right);
}

static void show(struct shown *s, const struct rp_rdma_port *port, const struct nlmsghdr *row)
{
	struct rp_attrs module = { 0 };

	if (row && rp_attrs_message(&rp_rdma_device_attrs, row, &module))
		memset(&module, 0, sizeof(module));
	s->count++;
	if (!s->table)
		json_port(&s->json, port, &module);
	else if (s->detail)
		add_detail(s->table, port, &module);
	else
		add_line(s->table, port, &module);
}

static void end(struct shown *s)
{
	if (s->table)
		rp_table_print(s->table, !s->detail && s->count);
	else
		rp_json_close(&s->json, ']');
}

static int show_ports(struct rp_cli *cli, const char *name, const struct module_rows *rows)
{
	struct shown s;

	begin(&s, &cli->format, name);
	for (unsigned int i = 0; i < rows->ports->count; i++)
		if (rp_rdma_port_is(&rows->ports->at[i], name))
			show(&s, &rows->ports->at[i], rows->row[i]);
	end(&s);
	if (s.count || cli->format.json)
		return s.count || !name ? RP_EXIT_OK : RP_EXIT_FAILURE;
	if (!name) {
		rp_complain("there is no RDMA device that speaks RoCE; see: rocepath doctor");
		return RP_EXIT_OK;
	}
	rp_complain("there is no RDMA device %s; see: rocepath rdma show", name);
	return RP_EXIT_FAILURE;
}

/**
 * rp_rdma_show() - rocepath rdma show [DEV]
 * @cli: this run
 * @args: the command line
 */
int rp_rdma_show(struct rp_cli *cli, const struct rp_args *args)
{
	struct rp_rdma_ports ports = { 0 };
	struct module_rows rows = { &ports, NULL };
	struct rp_error error;
	int ret, err = 0;

	if (rp_rdma_ports_read(&ports, &error)) {
		rp_complain("%s", error.text);
		return RP_EXIT_FAILURE;
	}
	rows.row = calloc(ports.count + 1, sizeof(*rows.row));
	if (rp_rdma_is_loaded())
		cli->rdma = rp_nl_open(&rp_rdma_family, NULL);
	if (cli->rdma && rows.row) {
		rp_nl_request(cli->rdma, ROCEPATH_RDMA_CMD_DEVICE_GET);
		err = rp_nl_dump(cli->rdma, keep_row, &rows);
	}
	if (err) {
		ret = rp_nl_explain(cli->rdma, err, args, NULL);
	} else if (!rows.row) {
		rp_complain("out of memory");
		ret = RP_EXIT_FAILURE;
	} else {
		ret = show_ports(cli, args->subject, &rows);
	}
	if (!cli->rdma && !cli->format.json && ports.count)
		rp_complain("QPs can be steered, their paths watched: modprobe " MODULE);
	drop_rows(&rows);
	rp_rdma_ports_drop(&ports);
	return ret;
}

/* as wide as its attribute; names and addresses, too */
static void put_value(struct nlmsghdr *nlh, const struct rp_set *set, const struct rp_value *value)
{
	const struct rp_field *field = rp_attr_field(set, value->keyword->attr);
	uint8_t address[RP_ADDRESS_LEN];

	if (!field)
		return;
	switch (field->wire) {
	case MNL_TYPE_U8:
		mnl_attr_put_u8(nlh, field->attr, value->number);
		break;
	case MNL_TYPE_U32:
		mnl_attr_put_u32(nlh, field->attr, value->number);
		break;
	case MNL_TYPE_NUL_STRING:
		mnl_attr_put_strz(nlh, field->attr, value->text);
		break;
	case MNL_TYPE_BINARY:
		if (!rp_address_parse(value->text, address, NULL))
			mnl_attr_put(nlh, field->attr, sizeof(address), address);
		break;
	}
}

static void put_values(struct nlmsghdr *nlh, const struct rp_set *set, const struct rp_args *args)
{
	for (unsigned int i = 0; i < args->count; i++)
		put_value(nlh, set, &args->values[i]);
}

static int change(struct rp_cli *cli, const struct rp_args *args, const char *subject)
{
	int err = rp_nl_do(cli->rdma, NULL, NULL);

	return err ? rp_nl_explain(cli->rdma, err, args, subject) : RP_EXIT_OK;
}

/**
 * rp_rdma_set() - rocepath rdma set DEV|all KEYWORD VALUE...
 * @cli: this run
 * @args: the command line
 */
int rp_rdma_set(struct rp_cli *cli, const struct rp_args *args)
{
	struct nlmsghdr *nlh;

	if (rp_rdma_connect(cli))
		return RP_EXIT_FAILURE;
	nlh = rp_nl_request(cli->rdma, ROCEPATH_RDMA_CMD_DEVICE_SET);
	if (strcmp(args->subject, ALL))
		mnl_attr_put_strz(nlh, ROCEPATH_RDMA_A_DEVICE_NAME, args->subject);
	put_values(nlh, &rp_rdma_device_attrs, args);
	return change(cli, args, args->subject);
}

/* rows of other devices and peers are left out, whether or not the kernel has done so */
struct list {
	struct rp_table table;
	const struct rp_args *args;
};

static bool is_wanted(const struct rp_set *set, const struct rp_attrs *attrs,
		      const struct rp_value *value)
{
	const struct rp_field *field = rp_attr_field(set, value->keyword->attr);
	const struct nlattr *attr = field ? attrs->at[field->attr] : NULL;
	uint8_t address[RP_ADDRESS_LEN];

	if (!attr)
		return false;
	if (field->wire == MNL_TYPE_NUL_STRING)
		return !strcmp(mnl_attr_get_str(attr), value->text);
	return rp_address_parse(value->text, address, NULL) ||
	       !memcmp(address, mnl_attr_get_payload(attr), sizeof(address));
}

static int add_row(const struct nlmsghdr *nlh, void *data)
{
	struct list *list = data;
	struct rp_attrs attrs;
	int err = rp_attrs_message(list->table.set, nlh, &attrs);

	for (unsigned int i = 0; !err && i < list->args->count; i++)
		if (!is_wanted(list->table.set, &attrs, &list->args->values[i]))
			return 0;
	if (!err)
		rp_table_row(&list->table, &attrs);
	return err;
}

static int list(struct rp_cli *cli, const struct rp_args *args, enum rocepath_rdma_cmd cmd,
		const struct rp_set *set, const char *none)
{
	struct list list = { .args = args };
	int err;

	if (rp_rdma_connect(cli))
		return RP_EXIT_FAILURE;
	put_values(rp_nl_request(cli->rdma, cmd), set, args);
	rp_table_begin(&list.table, &cli->format, set);
	err = rp_nl_dump(cli->rdma, add_row, &list);
	if (err) {
		rp_table_cancel(&list.table);
		return rp_nl_explain(cli->rdma, err, args, NULL);
	}
	rp_table_end(&list.table, none);
	return RP_EXIT_OK;
}

/**
 * rp_rdma_plan_show() - rocepath rdma plan [dev DEV] [peer ADDRESS]
 * @cli: this run
 * @args: the command line
 */
int rp_rdma_plan_show(struct rp_cli *cli, const struct rp_args *args)
{
	return list(cli, args, ROCEPATH_RDMA_CMD_PLAN_GET, &rp_rdma_plan_attrs,
		    "no QP has an entropy value of the plan yet; see: rocepath rdma show");
}

/**
 * rp_rdma_path_show() - rocepath rdma path [dev DEV] [peer ADDRESS]
 * @cli: this run
 * @args: the command line
 */
int rp_rdma_path_show(struct rp_cli *cli, const struct rp_args *args)
{
	return list(cli, args, ROCEPATH_RDMA_CMD_PATH_GET, &rp_rdma_path_attrs,
		    "no path is in use; see: rocepath rdma show");
}

/**
 * rp_rdma_peer_show() - rocepath rdma peer [dev DEV]
 * @cli: this run
 * @args: the command line
 */
int rp_rdma_peer_show(struct rp_cli *cli, const struct rp_args *args)
{
	return list(cli, args, ROCEPATH_RDMA_CMD_PEER_GET, &rp_rdma_peer_attrs,
		    "no peer is known; with a key they are, once a QP connects");
}

/**
 * rp_rdma_key_show() - rocepath rdma key-show
 * @cli: this run
 * @args: the command line
 */
int rp_rdma_key_show(struct rp_cli *cli, const struct rp_args *args)
{
	return list(cli, args, ROCEPATH_RDMA_CMD_KEY_GET, &rp_rdma_key_attrs,
		    "no key: no path is probed; set one: rocepath rdma key-set id 1 secret-file FILE");
}

/**
 * rp_rdma_path_set() - rocepath rdma path-set dev DEV from ADDRESS peer ADDRESS ev N state up|down
 * @cli: this run
 * @args: the command line
 */
int rp_rdma_path_set(struct rp_cli *cli, const struct rp_args *args)
{
	struct rp_args told = *args;
	struct nlmsghdr *nlh;

	if (rp_rdma_connect(cli))
		return RP_EXIT_FAILURE;
	for (unsigned int i = 0; i < told.count; i++)
		if (told.values[i].keyword->attr == ROCEPATH_RDMA_A_PATH_STATE)
			told.values[i].number = told.values[i].number ? ROCEPATH_RDMA_PATH_DOWN :
						ROCEPATH_RDMA_PATH_UP;
	nlh = rp_nl_request(cli->rdma, ROCEPATH_RDMA_CMD_PATH_SET);
	put_values(nlh, &rp_rdma_path_attrs, &told);
	return change(cli, args, rp_args_text(args, "dev"));
}

/**
 * rp_rdma_qp_set() - rocepath rdma qp-set dev DEV qpn N exempt yes|no
 * @cli: this run
 * @args: the command line
 */
int rp_rdma_qp_set(struct rp_cli *cli, const struct rp_args *args)
{
	if (rp_rdma_connect(cli))
		return RP_EXIT_FAILURE;
	put_values(rp_nl_request(cli->rdma, ROCEPATH_RDMA_CMD_QP_SET), &rp_rdma_qp_attrs, args);
	return change(cli, args, rp_args_text(args, "dev"));
}

/**
 * rp_rdma_key_set() - rocepath rdma key-set id N [secret-file FILE] [active yes|no]
 * @cli: this run
 * @args: the command line
 */
int rp_rdma_key_set(struct rp_cli *cli, const struct rp_args *args)
{
	const struct rp_value *active = rp_args_get(args, "active");
	const char *path = rp_args_text(args, "secret-file");
	uint8_t secret[ROCEPATH_RDMA_KEY_LEN];
	struct nlmsghdr *nlh;
	int ret;

	if (!path && !active) {
		rp_complain("nothing to set: add secret-file FILE, or active yes");
		return RP_EXIT_USAGE;
	}
	if ((path && rp_secret_read(path, secret)) || rp_rdma_connect(cli))
		return RP_EXIT_FAILURE;
	nlh = rp_nl_request(cli->rdma, ROCEPATH_RDMA_CMD_KEY_SET);
	mnl_attr_put_u8(nlh, ROCEPATH_RDMA_A_KEY_ID, rp_args_get(args, "id")->number);
	if (path)
		mnl_attr_put(nlh, ROCEPATH_RDMA_A_KEY_SECRET, sizeof(secret), secret);
	if (active)
		mnl_attr_put_u8(nlh, ROCEPATH_RDMA_A_KEY_ACTIVE, active->number);
	explicit_bzero(secret, sizeof(secret));
	ret = change(cli, args, NULL);
	rp_nl_forget(cli->rdma);
	return ret;
}

/**
 * rp_rdma_key_del() - rocepath rdma key-del id N
 * @cli: this run
 * @args: the command line
 */
int rp_rdma_key_del(struct rp_cli *cli, const struct rp_args *args)
{
	if (rp_rdma_connect(cli))
		return RP_EXIT_FAILURE;
	put_values(rp_nl_request(cli->rdma, ROCEPATH_RDMA_CMD_KEY_DEL), &rp_rdma_key_attrs, args);
	return change(cli, args, NULL);
}
