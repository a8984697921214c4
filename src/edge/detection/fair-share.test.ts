import assert from "node:assert/strict";
import { test } from "node:test";
import { type FixedClock, fixedClock } from "#kernel/clock.ts";
import { createFairShare, type FairShare } from "./fair-share.ts";

interface World {
  readonly clock: FixedClock;
  readonly shares: FairShare;
  /** Work for the account that takes so much CPU time. */
  took(accountId: string, ms: number): void;
}

function world(): World {
  const clock = fixedClock(0);
  let cpu = 0;
  const shares = createFairShare({ monotonicMs: clock.monotonicMs, cpuMs: () => cpu });
  return { clock, shares, took: (accountId, ms) => shares.run(accountId, () => void (cpu += ms)) };
}

test("an account that takes most of the time exceeds its share only after others have waited for long", () => {
  const { clock, shares, took } = world();
  const work = (seconds: number): void => {
    for (let second = 0; second < seconds; second++) {
      took("much", 900);
      took("little", 10);
      clock.advance(1000);
    }
  };
  work(5);
  assert.deepEqual([shares.isOver("much"), shares.isOver("little")], [false, false], "a burst is waited for");
  work(1);
  assert.deepEqual([shares.isOver("much"), shares.isOver("little"), shares.isOver("new")], [true, false, false]);
  shares.rest();
  assert.equal(shares.isOver("much"), false, "nothing waits");
  work(6);
  assert.equal(shares.isOver("much"), true);
});

test("an account whose few bodies wait for the machine, and not for each other, is not over its share", () => {
  const { clock, shares, took } = world();
  for (let body = 0; body < 6; body++) {
    took("only", 30);
    clock.advance(10_000);
    assert.equal(shares.isOver("only"), false);
  }
});

test("work that nobody waits for does not count", () => {
  const { clock, shares, took } = world();
  took("only", 100_000);
  clock.advance(10_000);
  assert.equal(shares.isOver("only"), false);
});

test("old usage no longer counts", () => {
  const { clock, shares, took } = world();
  clock.advance(2_000);
  took("before", 10_000);
  for (let n = 0; n < 100; n++) {
    clock.advance(1000);
    took(`account ${n % 10}`, 500);
  }
  assert.equal(shares.isOver("before"), false);
  assert.equal(shares.isOver("account 1"), false, "a tenth is nobody's fault");
});
