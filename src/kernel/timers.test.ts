import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createTimers } from "./timers.ts";

test("a timeout never ends early, and not long after its time", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  for (const limitMs of [0, 100, 1000, 1700, 5000]) {
    for (let beginsMs = 0; beginsMs <= 1200; beginsMs += 100) {
      const clock = fixedClock(0);
      const timers = createTimers(clock);
      const pass = (): void => {
        clock.advance(50);
        t.mock.timers.tick(50);
      };
      while (clock.monotonicMs() < beginsMs) pass();
      const sinceMs = timers.nowMs;
      let endedMs = -1;
      timers.add({
        check: (nowMs) => {
          if (endedMs < 0 && nowMs - sinceMs > limitMs) endedMs = clock.monotonicMs();
        },
      });
      while (endedMs < 0) pass();
      const tookMs = endedMs - beginsMs;
      assert.ok(tookMs > limitMs && tookMs <= limitMs + 1000, `${limitMs} from ${beginsMs} took ${tookMs}`);
      timers.close();
    }
  }
});

test("timers check every entry at least once a second, and few entries at a time", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const clock = fixedClock(0);
  const timers = createTimers(clock);
  let checkedNow = 0;
  const all: { atMs: number; check(nowMs: number): void }[] = [];
  const add = (): void => {
    const checked = {
      atMs: clock.monotonicMs(),
      check(nowMs: number) {
        checkedNow++;
        assert.ok(nowMs - this.atMs <= 1000, `${nowMs - this.atMs} ms passed`);
        this.atMs = nowMs;
      },
    };
    all.push(checked);
    timers.add(checked);
  };
  for (let i = 0; i < 1000; i++) add();
  let most = 0;
  for (let step = 0; step < 400; step++) {
    clock.advance(50);
    checkedNow = 0;
    t.mock.timers.tick(50);
    most = Math.max(most, checkedNow);
    for (let i = 0; i < (step * 7) % 23; i++) add();
    for (let i = 0; i < (step * 5) % 19 && all.length > 1; i++) timers.remove(all.splice((step * 31 + i * 17) % all.length, 1)[0]!);
  }
  for (const { atMs } of all) assert.ok(clock.monotonicMs() - atMs <= 1000);
  assert.ok(most <= all.length / 5, `${most} of ${all.length} at once`);
  timers.close();
});
