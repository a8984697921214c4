import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Op, ZoneEntry } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { recordOp, zoneOp } from "../../../test/support/zone-entries.ts";
import { createApexWatch } from "./flattening-refresh.ts";
import type { ExternalRRset } from "#nameserver/external/external-names.ts";
import { createZones } from "#nameserver/zones/zones.ts";

const Z = "zone1";
const EDGE = { ipv4: [], ipv6: [] };
const ALIAS = recordOp(Z, "example.com", "CNAME", "www.elsewhere.example");

function setUp(t: TestContext, ops: readonly Op[], fetched: ReadonlySet<string> = new Set([Z])) {
  const zones = createZones();
  zones.rebuild(createMemoryReplica(ops).snapshot);
  const elsewhere = { last: 1, state: "good" as ExternalRRset["state"] };
  const told: (readonly [string, string])[] = [];
  const watch = createApexWatch({
    zones,
    edge: EDGE,
    partners: { outgoing: (id) => (fetched.has(id) ? { keys: [], allows: () => true } : undefined) as never },
    outside: {
      complete: async (make) =>
        make((_name, type) => {
          const rdatas = type === TYPE.A ? [Buffer.of(192, 0, 2, 50), Buffer.of(192, 0, 2, elsewhere.last)] : [];
          // Resolvers give the addresses of a name in any order.
          return { rdatas: elsewhere.last % 2 === 0 ? rdatas : rdatas.toReversed(), ttl: 60, state: elsewhere.state, keepMs: 1_000 };
        }),
    },
    intervalMs: 60_000,
    onReaddressed: (id, addresses) => void told.push([id, addresses]),
  });
  t.after(() => watch.close());
  return { watch, elsewhere, told, zones };
}

const zone = (change: Partial<ZoneEntry> = {}): Op => zoneOp(Z, "example.com", change);

test("the watcher reports changed addresses at a flattened apex for their zone, once per change", async (t) => {
  const { watch, elsewhere, told } = setUp(t, [zone(), ALIAS]);
  await watch.look();
  await watch.look();
  assert.deepEqual(told, []);
  elsewhere.last = 2;
  await watch.look();
  await watch.look();
  assert.deepEqual(told, [[Z, "c0000202,c0000232"]]);
  elsewhere.last = 3;
  await watch.look();
  assert.equal(told.length, 2);
});

test("a failed look-up is not a change", async (t) => {
  const { watch, elsewhere, told } = setUp(t, [zone(), ALIAS]);
  await watch.look();
  for (const state of ["stale", "unknown"] as const) {
    Object.assign(elsewhere, { state, last: 9 });
    await watch.look();
  }
  assert.deepEqual(told, []);
  Object.assign(elsewhere, { state: "good", last: 1 });
  await watch.look();
  assert.deepEqual(told, []);
});

test("the watcher ignores zones that are not transferred, that are copies, or whose apex has its own addresses", async (t) => {
  for (const [ops, fetched] of [
    [[zone(), ALIAS], new Set<string>()],
    [[zone({ type: "secondary", secondary_overrides: true }), ALIAS], undefined],
    [[zone(), recordOp(Z, "example.com", "A", "192.0.2.1")], undefined],
    [[zone(), recordOp(Z, "example.com", "CNAME", "www.elsewhere.example", { proxied: true })], undefined],
  ] as const) {
    const { watch, elsewhere, told } = setUp(t, ops, fetched);
    await watch.look();
    elsewhere.last = 2;
    await watch.look();
    assert.deepEqual(told, []);
  }
});
