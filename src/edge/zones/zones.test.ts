import assert from "node:assert/strict";
import { test } from "node:test";
import { LargeMap } from "#kernel/large-map.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { phaseNumber } from "#rules/phases.ts";
import { NAMES_STAGED_AT_ONCE } from "#snapshot/staging-slices.ts";
import type { RecordEntry } from "#snapshot/entries.ts";
import { createZones } from "./zones.ts";
import { recordOp, rulesetOp, zoneOp } from "#edge/testing/entries.ts";

const addresses = (zones: ReturnType<typeof createZones>, host: string): readonly string[] =>
  zones
    .nearestZone(host, null)
    ?.names.addressRecords(host)
    .map((record) => record.content) ?? [];

test("a host belongs to the zone with the longest matching name", () => {
  const zones = createZones(createMemoryReplica([zoneOp("z1", "example.com"), zoneOp("z2", "sub.example.com")]), () => undefined);
  assert.equal(zones.nearestZone("a.example.com", null)?.entry.id, "z1");
  assert.equal(zones.nearestZone("a.sub.example.com", null)?.entry.id, "z2");
  assert.equal(zones.nearestZone("sub.example.com", null)?.entry.id, "z2");
  assert.equal(zones.nearestZone("notexample.com", null), undefined);
  assert.equal(zones.nearestZone("com", null), undefined);
});

test("a wildcard applies only to names that do not exist", () => {
  const zones = createZones(
    createMemoryReplica([
      zoneOp("z1", "example.com"),
      recordOp("r1", "z1", "*.example.com", "A", "192.0.2.1"),
      recordOp("r2", "z1", "text.example.com", "TXT", "hello"),
      recordOp("r3", "z1", "deep.empty.example.com", "A", "192.0.2.3"),
      recordOp("r4", "z1", "*.deep.example.com", "A", "192.0.2.4"),
    ]),
    () => undefined,
  );
  assert.deepEqual(addresses(zones, "any.example.com"), ["192.0.2.1"]);
  assert.deepEqual(addresses(zones, "a.b.example.com"), ["192.0.2.1"]);
  assert.deepEqual(addresses(zones, "text.example.com"), []);
  assert.deepEqual(addresses(zones, "below.text.example.com"), []);
  assert.deepEqual(addresses(zones, "empty.example.com"), []);
  assert.deepEqual(addresses(zones, "x.deep.example.com"), ["192.0.2.4"]);
  assert.deepEqual(addresses(zones, "example.com"), []);
});

test("records and zones can arrive and be removed in any order", () => {
  const replica = createMemoryReplica();
  const zones = createZones(replica, () => undefined);
  replica.apply([recordOp("r1", "z1", "www.example.com", "A", "192.0.2.1"), zoneOp("z1", "example.com")]);
  assert.deepEqual(addresses(zones, "www.example.com"), ["192.0.2.1"]);
  replica.apply([recordOp("r2", "z1", "www.example.com", "A", "192.0.2.2")]);
  assert.deepEqual(addresses(zones, "www.example.com"), ["192.0.2.1", "192.0.2.2"]);
  replica.apply([recordOp("r1", "z1", "www.example.com", "A", "192.0.2.9")]);
  assert.deepEqual(addresses(zones, "www.example.com"), ["192.0.2.2", "192.0.2.9"]);
  replica.apply([zoneOp("z1", "example.com", { paused: true })]);
  assert.deepEqual(addresses(zones, "www.example.com"), ["192.0.2.2", "192.0.2.9"]);
  replica.apply([
    { kind: "record", id: "r1", value: null },
    { kind: "record", id: "r2", value: null },
  ]);
  assert.deepEqual(addresses(zones, "www.example.com"), []);
  replica.apply([{ kind: "zone", id: "z1", value: null }]);
  assert.equal(zones.nearestZone("www.example.com", null), undefined);
  replica.replace([zoneOp("z3", "example.com"), recordOp("r3", "z3", "example.com", "AAAA", "2001:db8::1")]);
  assert.deepEqual(addresses(zones, "example.com"), ["2001:db8::1"]);
});

test("the zone of a host follows the snapshot, also for hosts with a cached look-up", () => {
  const replica = createMemoryReplica();
  const zones = createZones(replica, () => undefined);
  const id = (host = "a.sub.example.com"): string | undefined => zones.serving(host)?.zone.entry.id;
  assert.equal(id(), undefined);
  replica.apply([zoneOp("z1", "example.com")]);
  assert.equal(id(), "z1");
  replica.apply([zoneOp("z2", "sub.example.com")]);
  assert.equal(id(), "z2");
  for (let i = 0; i < 3_000; i++) assert.equal(id(`host-${i}.example.com`), "z1");
  replica.apply([{ kind: "zone", id: "z2", value: null }]);
  assert.equal(id(), "z1");
  replica.replace([]);
  assert.equal(id(), undefined);
});

test("an account's rules run before the zone's, and changes apply at once", () => {
  const left: string[] = [];
  const replica = createMemoryReplica([
    zoneOp("z1", "example.com"),
    rulesetOp("zr", "zone", "z1", "http_request_firewall_custom", [{ action: "log", expression: "true" }]),
  ]);
  const zones = createZones(replica, ({ ruleset_id, rule_id }) => void left.push(`${ruleset_id} ${rule_id}`));
  const ids = () =>
    zones
      .nearestZone("example.com", null)
      ?.rulesets(phaseNumber("http_request_firewall_custom"))
      .map((ruleset) => ruleset.id);
  assert.deepEqual(ids(), ["zr"]);
  replica.apply([rulesetOp("ar", "account", "account", "http_request_firewall_custom", [{ action: "log", expression: "no such field" }])]);
  assert.deepEqual(ids(), ["ar", "zr"]);
  assert.deepEqual(left, ["ar ar-1"]);
  replica.apply([{ kind: "ruleset", id: "zr", value: null }]);
  assert.deepEqual(ids(), ["ar"]);
});

test("large rulesets compile between requests: the old rules run until all of a delta are compiled, and are replaced together", async () => {
  const phase = phaseNumber("http_request_firewall_custom");
  const log = (expression: string) => ({ action: "log", expression });
  const large = (of: string) =>
    Array.from({ length: 30 }, (_, n) => log(`http.request.body.raw matches "${`([a-z]{1,30}${of}${n}|b){1,20}`.repeat(3)}"`));
  const custom = (id: string, owner: string, rules: readonly ReturnType<typeof log>[]) =>
    rulesetOp(id, "zone", owner, "http_request_firewall_custom", rules);
  const replica = createMemoryReplica([
    ...[zoneOp("z1", "one.example"), zoneOp("z2", "two.example"), zoneOp("z3", "three.example")],
    ...[custom("r1", "z1", [log("true")]), custom("r2", "z2", [log("true")])],
  ]);
  const later: (Promise<void> | undefined)[] = [];
  const zones = createZones(
    { ...replica, onApplied: (listener) => replica.onApplied((ops) => void later.push(listener(ops) as Promise<void> | undefined)) },
    () => undefined,
  );
  const sizes = () => ["z1", "z2", "z3"].map((id) => zones.byId(id)?.rulesets(phase)[0]?.rules.length ?? 0);
  assert.deepEqual(sizes(), [1, 1, 0]);
  replica.apply([custom("r1", "z1", large("a")), custom("r2", "z2", large("c"))]);
  assert.deepEqual(sizes(), [1, 1, 0]);
  // Rulesets of other zones do not wait for them, and one that is changed again keeps the newer change.
  replica.apply([custom("r3", "z3", [log("true")])]);
  await later[1];
  assert.deepEqual(sizes(), [1, 1, 1]);
  replica.apply([{ kind: "ruleset", id: "r2", value: null }]);
  await later[2];
  const seen = new Set<string>();
  let isDone = false;
  void later[0]!.then(() => (isDone = true));
  let turns = 0;
  for (; !isDone; turns++) {
    seen.add(String(sizes()));
    await new Promise((resolve) => void setImmediate(resolve));
  }
  seen.add(String(sizes()));
  assert.deepEqual([...seen], ["1,0,1", "30,0,1"]);
  assert.ok(turns > 20, `${turns} turns`);
});

test("staged records of a large change are indexed in slices, and become visible on release", () => {
  const replica = createMemoryReplica([zoneOp("z1", "example.com")]);
  const slices: number[] = [];
  const zones = createZones(
    replica,
    () => undefined,
    undefined,
    (names) => slices.push(names),
  );
  slices.length = 0;
  const above = Array.from({ length: 30 }, (_, level) => `l${level}`).join(".");
  const records = Array.from({ length: 250 }, (_, i) => {
    const { zone_id: _zone, ...record } = recordOp("", "z1", `${above}.n${i}.example.com`, "A", "192.0.2.1").value as RecordEntry;
    return { id: `r${i}`, ...record };
  });
  replica.apply([{ kind: "staged", id: "big/0", value: { import_id: "big", zone_id: "z1", records } }]);
  assert.ok(slices.length > 20 && Math.max(...slices) <= NAMES_STAGED_AT_ONCE + 127, `${slices}`);
  assert.deepEqual(addresses(zones, `${above}.n249.example.com`), []);
  replica.apply([{ kind: "release", id: "big", value: { zone_id: "z1", records: 250 } }]);
  assert.deepEqual(addresses(zones, `${above}.n249.example.com`), ["192.0.2.1"]);
});

test("a large change of a name with 60,000 addresses copies them in slices", () => {
  const count = 60_000;
  const address = (i: number): string => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
  const replica = createMemoryReplica([
    zoneOp("z1", "example.com"),
    ...Array.from({ length: count }, (_, i) => recordOp(`r${i}`, "z1", "www.example.com", "A", address(i))),
  ]);
  const slices: number[] = [];
  const zones = createZones(
    replica,
    () => undefined,
    undefined,
    (names) => slices.push(names),
  );
  slices.length = 0;
  const removed = Array.from({ length: count - 1 }, (_, i) => `r${i}`);
  replica.apply([{ kind: "staged", id: "big/0", value: { import_id: "big", zone_id: "z1", records: [], removed } }]);
  assert.equal(addresses(zones, "www.example.com").length, count);
  assert.ok(slices.reduce((sum, names) => sum + names, 0) > 1.9 * count, "copied records count");
  assert.ok(Math.max(...slices) <= NAMES_STAGED_AT_ONCE + 600, `${Math.max(...slices)} in one slice`);
  replica.apply([{ kind: "release", id: "big", value: { zone_id: "z1", records: count - 1 } }]);
  assert.deepEqual(addresses(zones, "www.example.com"), [address(count - 1)]);
});

test("the names of a zone are indexed as its records come, also those that come before the zone", (t) => {
  const replica = createMemoryReplica([]);
  const zones = createZones(replica, () => undefined);
  replica.apply(Array.from({ length: 1_000 }, (_, i) => recordOp(`r${i}`, "z1", `h${i}.a.example.com`, "A", "192.0.2.1")));
  replica.apply([{ kind: "record", id: "r0", value: null }]);
  const sets = t.mock.method(LargeMap.prototype, "set");
  replica.apply([zoneOp("z1", "example.com")]);
  assert.ok(sets.mock.callCount() < 20, `${sets.mock.callCount()} names set when the zone comes`);
  assert.deepEqual(
    ["h1.a.example.com", "h0.a.example.com", "a.example.com"].map((name) => addresses(zones, name)),
    [["192.0.2.1"], [], []],
  );
  replica.apply([recordOp("w", "z1", "*.example.com", "A", "192.0.2.2")]);
  assert.deepEqual(addresses(zones, "b.example.com"), ["192.0.2.2"]);
  assert.deepEqual(addresses(zones, "c.a.example.com"), []);
});
