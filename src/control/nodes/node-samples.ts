import type { MetricSample } from "#kernel/process/metrics.ts";
import type { PlaneNode } from "#model/access/node.ts";

/** A monitor keeps a series for each label; further nodes are in the counts by status only. */
const NODES_MAX = 1_000;

/** Each node as control knows it, for monitors. */
export function nodeSamples(nodes: readonly PlaneNode[], nowMs: number): readonly MetricSample[] {
  if (nodes.length === 0) return [];
  const joined = nodes
    .filter(({ status }) => status !== "waiting")
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, NODES_MAX);
  const ofEach = (name: string, help: string, valueOf: (node: PlaneNode) => number | null): readonly MetricSample[] =>
    joined.flatMap((node) => {
      const value = valueOf(node);
      return value === null ? [] : [{ name, help, type: "gauge", labels: { node: node.name }, value } as const];
    });
  const statuses = ["waiting", "connected", "away"] as const;
  return [
    ...statuses.map((status): MetricSample => {
      const value = nodes.filter((node) => node.status === status).length;
      return { name: "selvedge_fleet_nodes", help: "Nodes by status", type: "gauge", labels: { status }, value };
    }),
    ...ofEach("selvedge_fleet_node_connected", "1 if the node was heard of within five seconds", (node) => +(node.status === "connected")),
    ...ofEach("selvedge_fleet_node_silent_seconds", "Time since the node was last heard of; absent if it never was", ({ seen_on }) =>
      seen_on === null ? null : Math.max(0, nowMs - Date.parse(seen_on)) / 1_000,
    ),
    ...ofEach("selvedge_fleet_node_revision", "The revision that the node has applied", ({ revision }) => revision),
    ...ofEach("selvedge_fleet_node_behind", "Changes that the node has not applied", ({ behind }) => behind),
    ...ofEach("selvedge_fleet_node_problems", "Threads of the node that do not serve", ({ problems }) => problems.length),
    ...ofEach("selvedge_fleet_node_refused", "1 if the node has refused a change", ({ refused }) => +(refused !== null)),
  ];
}
