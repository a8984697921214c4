import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlaneNode } from "#model/access/node.ts";
import { nodeSamples } from "./node-samples.ts";

const NOW_MS = Date.parse("2026-01-01T00:00:10Z");
const node = (name: string, more: Partial<PlaneNode> = {}): PlaneNode => ({
  ...{ name, planes: ["edge"], status: "connected", joined_on: "2026-01-01T00:00:00Z", seen_on: "2026-01-01T00:00:09Z" },
  ...{ revision: 7, behind: 2, version: "0.1.0", format: 1, addresses: {}, ring: "all", edge_addresses: [], in_answers: false },
  ...{ problems: ["edge-1 is down"], refused: null },
  ...more,
});
const linesOf = (nodes: readonly PlaneNode[]): readonly string[] =>
  nodeSamples(nodes, NOW_MS).map(({ name, labels, value }) => `${name} ${Object.values(labels).join()} ${value}`);

test("monitors see each node that has joined, and how many there are", () => {
  assert.deepEqual(linesOf([]), []);
  const lines = linesOf([
    node("a"),
    node("b", { status: "away", seen_on: null, revision: null, behind: null, problems: [], refused: { rev: 3, reason: "" } }),
    node("c", { status: "waiting" }),
  ]);
  assert.deepEqual(lines, [
    "selvedge_fleet_nodes waiting 1",
    "selvedge_fleet_nodes connected 1",
    "selvedge_fleet_nodes away 1",
    "selvedge_fleet_node_connected a 1",
    "selvedge_fleet_node_connected b 0",
    "selvedge_fleet_node_silent_seconds a 1",
    "selvedge_fleet_node_revision a 7",
    "selvedge_fleet_node_behind a 2",
    "selvedge_fleet_node_problems a 1",
    "selvedge_fleet_node_problems b 0",
    "selvedge_fleet_node_refused a 0",
    "selvedge_fleet_node_refused b 1",
  ]);
});

test("a fleet of any size has a bounded number of series", () => {
  const nodes = Array.from({ length: 1_500 }, (_, i) => node(`n${i}`));
  const samples = nodeSamples(nodes, NOW_MS);
  assert.equal(new Set(samples.map(({ labels }) => labels["node"]).filter((name) => name !== undefined)).size, 1_000);
  assert.ok(samples.some(({ labels, value }) => labels["status"] === "connected" && value === 1_500));
});
