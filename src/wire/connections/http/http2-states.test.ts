import assert from "node:assert/strict";
import { test } from "node:test";
import * as states from "./http2-states.ts";
import { CLOSED, GONE, nextHttp2State, http2TimerOf } from "./http2-states.ts";

const ALL = [states.OPENING, states.UNACKNOWLEDGED, states.SERVING, states.DRAINING, states.ENDING, CLOSED] as const;
const EVENTS = [states.SETTINGS, states.ACKNOWLEDGED, states.LAST, states.ENDED, GONE] as const;

/** Null if the event is impossible. */
function after(state: number, event: number): number | null {
  try {
    return nextHttp2State(state, event);
  } catch {
    return null;
  }
}

test("each state of HTTP/2 but the last has a predecessor, an exit and a timer, and the last one has no exit", () => {
  for (const state of ALL) {
    const isLast = state === CLOSED;
    assert.equal(http2TimerOf(state) === "none", isLast);
    assert.equal(after(state, GONE), isLast ? null : CLOSED);
    if (state !== states.OPENING)
      assert.ok(ALL.some((before) => EVENTS.some((event) => before !== state && after(before, event) === state)));
  }
  const possible = ALL.flatMap((state) => EVENTS.filter((event) => after(state, event) !== null));
  assert.deepEqual([possible.length, ALL.length * EVENTS.length], [16, 30]);
});

test("an acknowledgement before any settings, an end without a GOAWAY, and settings after the end are impossible", () => {
  const impossible = [
    [states.OPENING, states.ACKNOWLEDGED],
    [states.SERVING, states.ACKNOWLEDGED],
    [states.SERVING, states.ENDED],
    [states.ENDING, states.SETTINGS],
    [CLOSED, GONE],
  ] as const;
  for (const [state, event] of impossible) assert.equal(after(state, event), null);
  assert.throws(() => nextHttp2State(states.ENDING, states.ENDED), /in state 'ending' cannot take the event 'ended'/);
});

test("an HTTP/2 connection goes from its settings through a GOAWAY to its end", () => {
  const events = [states.SETTINGS, states.ACKNOWLEDGED, states.SETTINGS, states.LAST, states.SETTINGS, states.ENDED, GONE];
  const path = [states.OPENING as number];
  for (const event of events) path.push(nextHttp2State(path.at(-1)!, event));
  assert.deepEqual(path, [
    ...[states.OPENING, states.UNACKNOWLEDGED, states.SERVING, states.SERVING],
    ...[states.DRAINING, states.DRAINING, states.ENDING, CLOSED],
  ]);
});
