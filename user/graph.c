// SPDX-License-Identifier: GPL-2.0
/*
 * Nodes are the device, its ports, the routers by the address that they
 * answered from, and the peer. An edge is labelled with how many entropy values
 * take it; it is bold where some of them were chosen, and dashed where it leads
 * nowhere.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"
#include "graph.h"

struct edge {
	char from[RP_TEXT_LEN], to[RP_TEXT_LEN];
	unsigned int evs, chosen;
	bool reached;
};

struct graph {
	struct edge *edges;
	unsigned int count, room;
};

static struct edge *find_edge(struct graph *graph, const char *from, const char *to)
{
	struct edge *grown;

	for (unsigned int i = 0; i < graph->count; i++)
		if (!strcmp(graph->edges[i].from, from) && !strcmp(graph->edges[i].to, to))
			return &graph->edges[i];
	if (graph->count == graph->room) {
		graph->room = 2 * graph->room + 64;
		grown = reallocarray(graph->edges, graph->room, sizeof(*grown));
		if (!grown)
			return NULL;
		graph->edges = grown;
	}
	grown = &graph->edges[graph->count++];
	memset(grown, 0, sizeof(*grown));
	strcpy(grown->from, from);
	strcpy(grown->to, to);
	return grown;
}

static int add(struct graph *graph, const char *from, const char *to,
	       const struct rp_fabric_path *path)
{
	struct edge *edge = find_edge(graph, from, to);

	if (!edge)
		return -ENOMEM;
	edge->evs += path->count;
	edge->chosen += path->chosen;
	edge->reached |= path->reached;
	return 0;
}

/* a router that did not answer is one of its own for each port and hop */
static void name_router(const struct rp_fabric_path *path, unsigned int hop, const char *port,
			char *name)
{
	if (path->heard >> hop & 1)
		rp_address_print(path->router[hop], name);
	else
		snprintf(name, RP_TEXT_LEN, "%s hop %u: no answer", port, hop + 1);
}

static int add_path(struct graph *graph, const struct rp_fabric_path *path, const char *device,
		    const char *peer, const char *port)
{
	unsigned int routers = path->reached ? path->hops - 1 : path->hops;
	char from[RP_TEXT_LEN], to[RP_TEXT_LEN];
	int err = add(graph, device, port, path);

	snprintf(from, sizeof(from), "%s", port);
	for (unsigned int hop = 0; !err && hop < routers; hop++) {
		name_router(path, hop, port, to);
		err = add(graph, from, to, path);
		strcpy(from, to);
	}
	if (path->reached)
		snprintf(to, sizeof(to), "%s", peer);
	else
		snprintf(to, sizeof(to), "%s: lost", from);
	return err ? err : add(graph, from, to, path);
}

static void print_edge(const struct edge *edge, FILE *out)
{
	fprintf(out, "\t\"%s\" -> \"%s\" [label=\"%u\"%s];\n", edge->from, edge->to, edge->evs,
		!edge->reached ? ", style=dashed, color=red" : edge->chosen ? ", style=bold" : "");
}

/**
 * rp_graph_print() - print a fabric in the language of dot(1)
 * @fabric: its paths
 * @device: name of the device
 * @peer: address of the peer
 * @ports: names, by their number in the paths
 * @out: where
 *
 * Return: 0 or -ENOMEM.
 */
int rp_graph_print(const struct rp_fabric *fabric, const char *device, const char *peer,
		   const char *const *ports, FILE *out)
{
	struct graph graph = { 0 };
	int err = 0;

	for (unsigned int i = 0; !err && i < fabric->count; i++)
		err = add_path(&graph, &fabric->paths[i], device, peer,
			       ports[fabric->paths[i].port]);
	if (!err) {
		fprintf(out, "digraph fabric {\n\trankdir=LR;\n\tnode [shape=box];\n");
		fprintf(out, "\t\"%s\" [shape=ellipse];\n", device);
		fprintf(out, "\t\"%s\" [shape=ellipse];\n", peer);
		for (unsigned int i = 0; i < graph.count; i++)
			print_edge(&graph.edges[i], out);
		fprintf(out, "}\n");
	}
	free(graph.edges);
	return err;
}
