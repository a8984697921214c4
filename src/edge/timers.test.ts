import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createTimers } from "./timers.ts";

test("a limit never ends before its time, and not long after it", (t) => {
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
