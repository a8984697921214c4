import assert from "node:assert/strict";
import { test } from "node:test";
import { recordOp as edgeRecordOp, rulesetOp } from "#edge/testing/entries.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { createRecentDeltas } from "#snapshot/recent.ts";
import { PLANE_INDEXES } from "../support/plane-indexes.ts";
import { countedWork } from "../support/counted-work.ts";
import { certificateOp, recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";

// One more entry, its change and its end cost every plane the same beside 10 others and beside 1,000: what goes through
// all of them is counted here, so that no clock decides.

const FEW = 10;
const MANY = 1_000;
/** Trees, and arrays that are cut now and then. */
const GROWTH_MAX = 1.5;

const account_id = "a".repeat(32);

interface Row {
  readonly of: string;
  readonly planes: readonly (keyof typeof PLANE_INDEXES)[];
  /** Common ops of all of them. */
  readonly base?: readonly Op[];
  /** Number `i` of them, in one of two states. */
  readonly entry: (i: number, changed: boolean) => Op;
}

const gateway = { account_id, gateway_id: "gw" };
const zone = zoneOp("z", "example.com");

const ROWS: readonly Row[] = [
  { of: "zones", planes: ["nameserver", "edge"], entry: (i, paused) => zoneOp(`z${i}`, `n${i}.example`, { paused }) },
  { of: "serials", planes: ["nameserver"], entry: (i, changed) => serialOp(`z${i}`, changed ? 2 : 1) },
  {
    of: "records of a zone",
    planes: ["nameserver"],
    base: [zone],
    entry: (i, changed) => ({ ...recordOp("z", `n${i}.example.com`, "A", changed ? "192.0.2.1" : "192.0.2.2"), id: `r${i}` }),
  },
  {
    of: "records of a zone",
    planes: ["edge"],
    base: [zone],
    entry: (i, changed) => edgeRecordOp(`r${i}`, "z", `n${i}.example.com`, "A", changed ? "192.0.2.1" : "192.0.2.2"),
  },
  {
    of: "certificates of a zone",
    planes: ["nameserver", "certificates"],
    base: [zone],
    entry: (i, changed) => ({ ...certificateOp("z", changed ? `b${i}.example` : `a${i}.example`), id: `c${i}` }),
  },
  {
    of: "certificates of a host",
    planes: ["nameserver", "certificates"],
    base: [zone],
    entry: (i) => ({ ...certificateOp("z", "www.example.com"), id: `c${i}` }),
  },
  {
    of: "custom hostnames of a zone",
    planes: ["edge"],
    base: [zone],
    entry: (i, wildcard) => ({
      kind: "custom_hostname",
      id: `h${i}`,
      value: { zone_id: "z", hostname: `n${i}.example`, wildcard, active: true, token: "" },
    }),
  },
  {
    of: "rulesets of an account",
    planes: ["edge"],
    entry: (i, changed) =>
      rulesetOp(`r${i}`, "zone", `z${i}`, "http_request_firewall_custom", [{ action: "block", expression: changed ? "true" : "false" }]),
  },
  {
    of: "lists of an account",
    planes: ["edge"],
    entry: (i, changed) => ({
      kind: "list",
      id: `l${i}/0`,
      value: { account_id, list_id: `l${i}`, name: `l${i}`, kind: "asn", part: 0, items: changed ? [1] : [2] },
    }),
  },
  {
    of: "tokens",
    planes: ["gateway"],
    entry: (i, changed) => ({
      kind: "token",
      id: `t${i}`,
      value: {
        hash: String(i).padStart(64, "0"),
        accounts: changed ? "*" : [account_id],
        not_before: null,
        expires_on: null,
        addresses: { allow: [], deny: [] },
      },
    }),
  },
  {
    of: "names of gateways",
    planes: ["gateway", "edge"],
    base: [zone],
    entry: (i, changed) => ({
      kind: "gateway_domain",
      id: `n${i}.example.com`,
      value: { ...gateway, zone_id: "z", min_tls: changed ? "1.2" : "1.3" },
    }),
  },
  {
    of: "keys for providers",
    planes: ["gateway"],
    entry: (i, is_default) => ({
      kind: "provider_key",
      id: `k${i}`,
      value: { ...gateway, provider: `p${i}`, alias: "main", is_default, secret: "" },
    }),
  },
  {
    of: "custom providers",
    planes: ["gateway"],
    entry: (i, changed) => ({
      kind: "custom_provider",
      id: `p${i}`,
      value: { account_id, slug: `p${i}`, base_url: changed ? "https://a.example" : "https://b.example", costs: [] },
    }),
  },
  {
    of: "dynamic routes",
    planes: ["gateway"],
    entry: (i, changed) => ({
      kind: "gateway_route",
      id: `r${i}`,
      value: { ...gateway, name: changed ? `a${i}` : `b${i}`, elements: [] },
    }),
  },
  {
    of: "profiles of data loss prevention",
    planes: ["gateway"],
    entry: (i, changed) => ({
      kind: "dlp_profile",
      id: `d${i}`,
      value: { account_id, patterns: [], words: [{ id: "w", name: "w", words: [changed ? "one" : "two"] }] },
    }),
  },
];

const put = (op: Op): readonly Op[] => [op];

/** Beside so many others, one comes, changes and goes. */
function workBeside({ base = [], entry, planes }: Row, count: number): number {
  const replica = createMemoryReplica([...base, ...Array.from({ length: count }, (_, i) => entry(i, false))]);
  for (const plane of planes) PLANE_INDEXES[plane](replica);
  const steps = [put(entry(count, false)), put(entry(count, true)), put({ ...entry(count, true), value: null } as Op)];
  // The first time some things are made that are kept.
  for (const ops of steps) replica.apply(ops);
  return countedWork(() => {
    for (const ops of steps) replica.apply(ops);
  });
}

for (const row of ROWS)
  test(`${row.of}: the work of a change at ${row.planes.join(" and ")} does not grow with their number`, () => {
    const [few, many] = [workBeside(row, FEW), workBeside(row, MANY)];
    assert.ok(many <= few * GROWTH_MAX, `${few} elements beside ${FEW}, ${many} beside ${MANY}`);
  });

test("storing a delta for replicas takes as little work after a hundred thousand deltas as after ten", () => {
  const recent = createRecentDeltas(MANY);
  const push = (rev: number): void => recent.push({ from: rev - 1, rev, ops: [serialOp("z", rev)] });
  const pushes = (from: number): number =>
    countedWork(() => {
      for (let rev = from; rev < from + 2 * MANY; rev++) push(rev);
    });
  const first = pushes(1);
  assert.ok(pushes(2 * MANY + 1) <= first * GROWTH_MAX, `${first} elements at first`);
  assert.ok(first <= 10 * MANY, `${first} elements for ${2 * MANY} deltas`);
});

test("the work counter counts copies, spreads and searches", () => {
  const set = new Set(Array.from({ length: 100 }, (_, i) => i));
  const list = [...set];
  for (const work of [() => new Set(set), () => new Map([...set].entries()), () => [...list, 1], () => list.filter((one) => one === 3)])
    assert.ok(countedWork(() => void work()) >= 100, String(work));
  assert.equal(
    countedWork(() => void set.has(3)),
    1,
  );
});
