import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createFairShare } from "./fair-share.ts";

test("an account that takes most of the time exceeds its share only after others have waited for long", () => {
  const clock = fixedClock(0);
  const shares = createFairShare(clock);
  const work = (seconds: number): void => {
    for (let second = 0; second < seconds; second++) {
      shares.took("much", 900);
      shares.took("little", 10);
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
  const clock = fixedClock(0);
  const shares = createFairShare(clock);
  for (let body = 0; body < 6; body++) {
    shares.took("only", 30);
    clock.advance(10_000);
    assert.equal(shares.isOver("only"), false);
  }
});

test("old usage no longer counts", () => {
  const clock = fixedClock(0);
  const shares = createFairShare(clock);
  shares.took("before", 10_000);
  for (let n = 0; n < 100; n++) {
    clock.advance(1000);
    shares.took(`account ${n % 10}`, 500);
  }
  assert.equal(shares.isOver("before"), false);
  assert.equal(shares.isOver("account 1"), false, "a tenth is nobody's fault");
});
