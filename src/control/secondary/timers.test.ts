import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import type { PrimaryApex } from "#model/dns/primary-copy.ts";
import { CHECK_MS_MAX, expiresAtMs, nextRefreshMs, nextRetryMs } from "./timers.ts";

const apexWith = (refresh: number, retry: number, expire: number): PrimaryApex => ({
  serial: 1,
  soa: { mname: "ns.example", rname: "who.example", refresh, retry, expire, min_ttl: 300, ttl: 3600 },
  name_servers: [],
  ns_ttl: 0,
});

const NOW = 1_780_000_000_000;
const seconds = fc.oneof(fc.integer({ min: 0, max: 0xffff_ffff }), fc.integer({ min: 0, max: 100_000 }));
const apexes = fc.option(fc.tuple(seconds, seconds, seconds).map(([refresh, retry, expire]) => apexWith(refresh, retry, expire)));
const random = fc.double({ min: 0, max: 0.999, noNaN: true });

test("SPEC 2.4: refresh, retry and expire are the primary's, shortened by up to a tenth so that zones do not synchronize", () => {
  const apex = apexWith(10_000, 2_400, 604_800);
  assert.equal(nextRefreshMs({ apex, nowMs: NOW, random: 0 }, 86_400), NOW + 10_000_000);
  assert.equal(nextRefreshMs({ apex, nowMs: NOW, random: 1 }, 86_400), NOW + 9_000_000);
  assert.equal(nextRefreshMs({ apex, nowMs: NOW, random: 0 }, 300), NOW + 300_000);
  assert.equal(nextRetryMs({ apex, nowMs: NOW, random: 0 }, 7, null), NOW + 2_400_000);
  assert.equal(nextRetryMs({ apex, nowMs: NOW, random: 0 }, 7, NOW + 5_000), NOW + 5_000, "in time for the expiry");
  assert.equal(nextRetryMs({ apex, nowMs: NOW, random: 0 }, 7, NOW - 5_000), NOW + 2_400_000, "it has expired already");
  assert.equal(expiresAtMs(apex, NOW), NOW + 604_800_000);
  assert.equal(expiresAtMs(apexWith(3600, 600, 0), NOW), NOW + 4_200_000, "not before it was tried again");
  assert.equal(expiresAtMs(null, NOW), null);
});

test("before the first transfer the interval doubles from a minute to an hour", () => {
  const wait = (failures: number): number => (nextRetryMs({ apex: null, nowMs: NOW, random: 0 }, failures, null) - NOW) / 1000;
  assert.deepEqual([1, 2, 3, 6, 7, 8, 1_000_000].map(wait), [60, 120, 240, 1920, 3600, 3600, 3600]);
});

test("for any values of a primary, the interval is at least 54 seconds, and every zone is checked again", () => {
  fc.assert(
    fc.property(
      apexes,
      random,
      fc.integer({ min: 1, max: 100_000 }),
      fc.integer({ min: 300, max: 2_147_483_647 }),
      (apex, chance, failures, auto) => {
        const scene = { apex, nowMs: NOW, random: chance };
        const expires = expiresAtMs(apex, NOW);
        if (apex) assert.ok(expires !== null && expires - NOW >= 120_000);
        for (const next of [nextRefreshMs(scene, auto), nextRetryMs(scene, failures, null)]) {
          assert.ok(Number.isSafeInteger(next));
          assert.ok(next - NOW >= 54_000 && next - NOW <= CHECK_MS_MAX);
        }
        assert.ok(nextRetryMs(scene, failures, expires) <= (expires ?? Number.POSITIVE_INFINITY));
      },
    ),
  );
});
