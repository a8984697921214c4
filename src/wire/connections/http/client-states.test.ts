import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { ClientDeadlines, type ClientDeadlineLimits } from "./client-deadlines.ts";
import * as states from "./client-states.ts";
import { CLOSED, GONE, nextState, timerOf } from "./client-states.ts";
import { IMPOSSIBLE } from "#wire/connections/transport/state-table.ts";

const ALL = [states.AWAITING, states.EXCHANGE, states.PASSING_OVER, states.BEHIND, states.TUNNEL, states.CLOSING, CLOSED] as const;
const EVENTS = [0, 1, 2, 3, 4, 5, 6, 7] as const;

const LIMITS: ClientDeadlineLimits = {
  headTimeoutMs: 10_000,
  idleTimeoutMs: 75_000,
  progressWindowMs: 60_000,
  progressBytesMin: 4096,
  bodyWindowMs: 20_000,
  bodyBytesMin: 5_000,
  bodyTimeoutMs: 3_600_000,
  tunnelIdleTimeoutMs: 600_000,
  lingerMs: 2_000,
};

test("each state but the last has a predecessor, an exit and a timer, and the last one has no exit", () => {
  for (const state of ALL) {
    const isLast = state === CLOSED;
    assert.equal(timerOf(state) === "none", isLast);
    assert.equal(nextState(state, GONE), isLast ? IMPOSSIBLE : CLOSED);
    if (state !== states.AWAITING)
      assert.ok(ALL.some((before) => EVENTS.some((event) => before !== state && nextState(before, event) === state)));
  }
  const possible = ALL.flatMap((state) => EVENTS.filter((event) => nextState(state, event) !== IMPOSSIBLE));
  assert.deepEqual([possible.length, ALL.length * EVENTS.length], [17, 56]);
  assert.deepEqual(
    [
      nextState(states.EXCHANGE, states.BEGUN),
      nextState(states.AWAITING, states.ANSWERED),
      nextState(states.CLOSING, states.BEGUN),
      nextState(states.BEHIND, states.BEGUN),
    ],
    [IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE, IMPOSSIBLE],
  );
  assert.match(states.impossibleEvent(states.CLOSING, states.BEGUN).message, /'closing' cannot take the event 'begun'/);
});

test("in every state, a timer ends a connection's wait", () => {
  const bytes = fc.constantFrom(null, 0, 1_000);
  fc.assert(
    fc.property(
      ...[fc.constantFrom(...ALL.slice(0, -1)), fc.boolean(), fc.boolean(), bytes, bytes],
      (state, isMidHead, hasServed, bytesTaken, bytesSent) => {
        const deadlines = new ClientDeadlines(LIMITS, {
          nowMs: 0,
          measureMs: () => 0,
          add: () => undefined,
          remove: () => undefined,
          close: () => undefined,
        });
        const waiting = { isMidHead, hasServed, bytesTaken, bytesSent, bytesMoved: 7 };
        assert.equal(deadlines.judge(state, 0, waiting), "fine");
        let verdict = "fine";
        let nowMs = 0;
        for (; verdict === "fine" && nowMs < 10_000_000; nowMs += 500) verdict = deadlines.judge(state, nowMs, waiting);
        assert.notEqual(verdict, "fine");
        if (verdict === "stalled") assert.ok(nowMs > 7_200_000 && bytesTaken === null && bytesSent === null);
      },
    ),
  );
});
