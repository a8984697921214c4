import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { SEALER } from "../../../test/support/nameserver.ts";
import { recordOp, serialOp, zoneOp } from "../../../test/support/zone-entries.ts";
import { dnssecOp, zoneKey } from "../../../test/support/zone-keys.ts";
import { createZones, type Zones } from "#nameserver/zones/zones.ts";
import { createBackgroundSigner } from "./background-signer.ts";
import { createSigner } from "./signer.ts";

const Z = "zone1";
const EDGE = { ipv4: [Buffer.of(203, 0, 113, 1)], ipv6: [] };
const DAY_MS = 86_400_000;
const record = (i: number): Op => recordOp(Z, `n${i}.example.com`, "A", "192.0.2.1");
const BASE = [zoneOp(Z, "example.com"), serialOp(Z, 1), ...Array.from({ length: 300 }, (_, i) => record(i))];
/** Of the apex: SOA, NS, DNSKEY. */
const APEX_SETS = 3;

function setUp(t: TestContext, ops: readonly Op[]) {
  // The slices run on timers that the test turns; the work in them takes no time by its clock.
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const clock = fixedClock("2026-11-20T12:00:00Z");
  const metrics = createMetrics();
  const { signatures } = createSigner({ edge: EDGE, clock, metrics, sealer: SEALER, log: () => {} });
  const signer = createBackgroundSigner({ zones: () => zones, edge: EDGE, signatures, clock });
  const zones: Zones = createZones([signer]);
  const replica = createMemoryReplica(ops);
  zones.rebuild(replica.snapshot);
  replica.onApplied((applied) => void zones.apply(applied ?? []));
  signer.sweep();
  t.after(() => signer.close());
  const made = (): number =>
    metrics.samples().find(({ name, labels }) => name === "selvedge_dns_signatures_total" && labels["kind"] === "kept")?.value ?? 0;
  let before = 0;
  /** Signatures made since the last call, when all timers of so many milliseconds have run. */
  const signed = (ms = 100): number => {
    t.mock.timers.tick(ms);
    const since = made() - before;
    before += since;
    return since;
  };
  return { clock, replica, signed };
}

test("the signer signs a zone at the start, then the changes of each delta, and the whole zone after a key change", (t) => {
  const { replica, signed } = setUp(t, [...BASE, dnssecOp(Z, [zoneKey("a")])]);
  assert.equal(signed(), 300 + APEX_SETS);
  assert.equal(signed(), 0);
  replica.apply([{ ...record(1), value: null } as Op, recordOp(Z, "n2.example.com", "TXT", '"new"'), serialOp(Z, 2)]);
  // The changed name's two sets, and the apex with its new serial.
  assert.equal(signed(), 2 + APEX_SETS);
  replica.apply([dnssecOp(Z, [zoneKey("b"), zoneKey("c", { signsZone: false })])]);
  assert.equal(signed(), 300 - 1 + 1 + APEX_SETS + 1);
  replica.apply([{ kind: "dnssec", id: Z, value: null }, serialOp(Z, 3)]);
  assert.equal(signed(), 0);
});

test("the signer renews signatures before they expire, spread over several days", (t) => {
  const { clock, signed } = setUp(t, [...BASE, dnssecOp(Z, [zoneKey("a")])]);
  assert.equal(signed(), 300 + APEX_SETS);
  const byDay = Array.from({ length: 9 }, () => {
    clock.advance(DAY_MS);
    return signed(3_600_000);
  });
  assert.equal(
    byDay.reduce((sum, count) => sum + count),
    300 + APEX_SETS,
  );
  // 14 days, two more or less, of which a week and a half day are left.
  assert.deepEqual(byDay.slice(0, 4), [0, 0, 0, 0]);
  assert.ok(
    byDay.slice(4).every((count) => count > 20 && count < 150),
    String(byDay),
  );
});

test("zones that cannot be signed, and zones that are removed and added again, cost no signatures", (t) => {
  const { replica, signed } = setUp(t, [...BASE, dnssecOp(Z, [])]);
  assert.equal(signed(), 0);
  replica.apply([dnssecOp(Z, [zoneKey("a")])]);
  assert.equal(signed(), 300 + APEX_SETS);
  replica.apply([{ ...(BASE[0] as Op), value: null } as Op]);
  replica.apply([BASE[0] as Op]);
  assert.equal(signed(), 300 + APEX_SETS);
});
