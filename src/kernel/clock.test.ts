import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { adjustableClock, fixedClock, isoDate, isoMicros, offsetClock, parseIsoDate, systemClock, wallMicros } from "./clock.ts";

const TIME_MS = fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) });

test("the system clock agrees with the machine, and its units agree with each other", () => {
  const before = Date.now();
  const ms = systemClock.nowMs();
  const micros = systemClock.nowMicros();
  assert.ok(ms >= before && ms <= Date.now());
  // The two may drift apart when the machine's time is set; seconds would be a mistake in the unit.
  assert.ok(Math.abs(micros / 1000 - ms) < 10_000);
  const first = systemClock.monotonicMs();
  assert.ok(systemClock.monotonicMs() >= first);
});

test("a fixed clock moves only on request", () => {
  const clock = fixedClock("2024-11-30T00:00:00Z");
  assert.equal(clock.nowMs(), Date.UTC(2024, 10, 30));
  assert.equal(clock.nowMicros(), Date.UTC(2024, 10, 30) * 1000);
  const before = clock.monotonicMs();
  clock.advance(1500);
  assert.equal(clock.nowMs(), Date.UTC(2024, 10, 30) + 1500);
  assert.equal(clock.monotonicMs() - before, 1500);
  assert.throws(() => fixedClock("yesterday"), RangeError);
});

test("an offset clock runs with its base", () => {
  const base = fixedClock(1_000_000);
  const clock = offsetClock(base, -250_000);
  assert.equal(clock.nowMs(), 750_000);
  base.advance(10);
  assert.equal(clock.nowMs(), 750_010);
  assert.equal(clock.nowMicros(), 750_010_000);
});

test("property: timestamps have microseconds", () => {
  assert.equal(isoMicros(Date.UTC(2014, 0, 1, 5, 20, 0) * 1000 + 123_456), "2014-01-01T05:20:00.123456Z");
  assert.equal(isoMicros(7), "1970-01-01T00:00:00.000007Z");
  fc.assert(
    fc.property(TIME_MS, fc.nat(999), (ms, below) => {
      const text = isoMicros(ms * 1000 + below);
      assert.equal(Date.parse(text), ms);
      assert.equal(text.slice(23, 26), String(below).padStart(3, "0"));
    }),
  );
});

test("property: timestamps sort like their texts", () => {
  const micros = TIME_MS.map((ms) => ms * 1000);
  fc.assert(fc.property(micros, micros, (a, b) => assert.equal(isoMicros(a) < isoMicros(b), a < b)));
});

test("the parser accepts only dates that exist", () => {
  assert.equal(parseIsoDate("2024-02-29"), "2024-02-29");
  for (const text of ["2023-02-29", "2024-02-30", "2024-13-01", "2024-1-1", "2024-01-01T00:00:00Z", "", "20240101", "+002024-01-01"]) {
    assert.equal(parseIsoDate(text), undefined, text);
  }
  fc.assert(fc.property(TIME_MS, (ms) => assert.equal(parseIsoDate(isoDate(ms)), isoDate(ms))));
});

test("microseconds follow the wall clock after a step, and increase while it runs evenly", () => {
  let [wallMs, monotonicMs] = [1_000_000, 500.25];
  const micros = wallMicros(
    () => Math.floor(wallMs),
    () => monotonicMs,
  );
  const pass = (ms: number): number => {
    wallMs += ms;
    monotonicMs += ms;
    return micros();
  };
  let before = micros();
  for (let i = 0; i < 1_000; i++) {
    const now = pass(0.1);
    assert.ok(now >= before && now - before <= 1_100, `${now} after ${before}`);
    before = now;
  }
  for (const stepMs of [3_600_000, -7_200_000, 5_000]) {
    wallMs += stepMs;
    const apart = micros() / 1000 - wallMs;
    assert.ok(Math.abs(apart) <= 1, `${apart} ms from the wall clock after a step of ${stepMs}`);
  }
});

test("the offset of an adjustable clock changes, and its monotonic scale does not", () => {
  const base = fixedClock("2026-01-01T00:00:00Z");
  const clock = adjustableClock(base);
  assert.equal(clock.nowMs(), base.nowMs());
  clock.setOffset(-5_000);
  assert.deepEqual([clock.nowMs(), clock.nowMicros()], [base.nowMs() - 5_000, base.nowMicros() - 5_000_000]);
  assert.deepEqual([clock.offsetMs(), clock.monotonicMs()], [-5_000, base.monotonicMs()]);
  clock.setOffset(0);
  assert.equal(clock.nowMs(), base.nowMs());
});
