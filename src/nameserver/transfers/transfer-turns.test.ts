import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createSigner } from "#nameserver/dnssec/signer.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";
import { createZones } from "#nameserver/zones/zones.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { countedWork } from "../../../test/support/counted-work.ts";
import { SEALER } from "../../../test/support/nameserver.ts";
import { recordOp, serialOp, zoneOp } from "../../../test/support/zone-entries.ts";
import { dnssecOp, zoneKey } from "../../../test/support/zone-keys.ts";
import { differences, wholeSignedZone, wholeZone } from "./transfer-records.ts";

const Z = "zone1";
const EDGE = { ipv4: [Buffer.of(203, 0, 113, 1)], ipv6: [] };
const NAMES = 6_000;
/** Cost limit of one name, in look-ups and steps, times the names of a turn; and one sort of a list. */
const MOST = 40_000;

function zoneOf(ops: readonly Op[]): ZoneIndex {
  const zones = createZones();
  zones.rebuild(createMemoryReplica([zoneOp(Z, "example.com"), serialOp(Z, 1), ...ops]).snapshot);
  return zones.nearestZone(keyOf(parseAbsoluteName("example.com")), null) ?? assert.fail("no zone");
}

const many = (below: string): Op[] => Array.from({ length: NAMES }, (_, i) => recordOp(Z, `n${i}.${below}`, "A", "192.0.2.1"));

/** The most that one call of `next` did, and how many records there were. */
function run(records: Generator<unknown>): { most: number; records: number } {
  let [most, count] = [0, 0];
  for (let done = false; !done;) {
    const work = countedWork(() => {
      const next = records.next();
      done = next.done === true;
      if (next.value !== undefined) count += 1;
    });
    most = Math.max(most, work);
  }
  return { most, records: count };
}

test("a zone transfer skips a limited number of names without data in each tick", () => {
  const zone = zoneOf([recordOp(Z, "old.example.com", "DNAME", "elsewhere.example"), ...many("old.example.com")]);
  const { most, records } = run(wholeZone(zone, EDGE, () => []));
  assert.ok(records < 10, `${records} records: what a DNAME hides is not sent`);
  assert.ok(most <= MOST, `${most} steps in one turn`);
});

test("an incremental transfer computes each name when it is sent, and skips a limited number without data in each tick", () => {
  const zone = zoneOf([]);
  const sets = new Map([[TYPE.A, { type: TYPE.A, ttl: 60, rdatas: [Buffer.of(192, 0, 2, 1)], proxied: false }]]);
  const names = Array.from({ length: NAMES }, (_, i) => ({
    key: keyOf(parseAbsoluteName(`n${i}.example.com`)),
    before: new Map(),
    after: sets,
  }));
  const version = { from: 1, to: 2, apexBefore: zone.apex, apexAfter: zone.apex, names };
  const { most, records } = run(differences(zone, EDGE, [version]));
  assert.equal(records, NAMES + 4);
  assert.ok(most <= 10_000, `${most} steps in one turn`);
});

test("a signed zone transfer skips a limited number of names outside the zone in each tick", () => {
  const cut = recordOp(Z, "sub.example.com", "NS", "n1.sub.example.com");
  const zone = zoneOf([dnssecOp(Z, [zoneKey("only")]), cut, ...many("sub.example.com")]);
  const clock = fixedClock("2026-11-20T12:00:00Z");
  const { signatures } = createSigner({ edge: EDGE, clock, sealer: SEALER, metrics: createMetrics(), log: () => {} });
  const { most, records } = run(wholeSignedZone(zone, { edge: EDGE, signatures, addresses: () => [] }));
  assert.ok(records > NAMES, "glue is sent");
  assert.ok(most <= MOST, `${most} steps in one turn`);
});

test("the signer drops signatures of deleted names in limited steps", () => {
  const zone = zoneOf([dnssecOp(Z, [zoneKey("only")])]);
  const clock = fixedClock("2026-11-20T12:00:00Z");
  const { signatures } = createSigner({ edge: EDGE, clock, sealer: SEALER, metrics: createMetrics(), log: () => {} });
  for (let i = 0; i < 2_000; i++)
    signatures.kept(zone, {
      owner: keyOf(parseAbsoluteName(`n${i}.example.com`)),
      type: TYPE.A,
      ttl: 60,
      rdatas: [Buffer.of(192, 0, 2, 1)],
    });
  let looked = 0;
  const steps = signatures.keepOnly(zone, () => {
    looked += 1;
    return false;
  });
  let most = 0;
  for (let done = false; !done;) {
    const before = looked;
    done = steps.next().done === true;
    most = Math.max(most, looked - before);
  }
  assert.equal(looked, 2_000);
  assert.ok(most <= 500, `${most} names in one step`);
});
