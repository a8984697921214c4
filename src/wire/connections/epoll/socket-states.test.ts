import assert from "node:assert/strict";
import { test } from "node:test";
import * as states from "./socket-states.ts";
import { nextConnection, nextReceiving, nextSending } from "./socket-states.ts";

type Next = (state: number, event: number) => number;

const walk = (next: Next, from: number, ...events: readonly number[]): number => events.reduce(next, from);

/** Null if the event is impossible. */
function after(next: Next, state: number, event: number): number | null {
  try {
    return next(state, event);
  } catch {
    return null;
  }
}

test("a socket's connection is accepted or dialled, may become secure, and can be lost in each state but the last", () => {
  const { NEW, OPEN, CLOSED, ACCEPT, DIAL, CONNECTED, SECURE, SECURED, GONE } = states;
  assert.equal(walk(nextConnection, NEW, ACCEPT, SECURE, SECURED), OPEN);
  assert.equal(walk(nextConnection, NEW, DIAL, CONNECTED), OPEN);
  for (const state of [NEW, states.CONNECTING, OPEN, states.SECURING]) assert.equal(nextConnection(state, GONE), CLOSED);
  const possible = [NEW, states.CONNECTING, OPEN, states.SECURING, CLOSED].flatMap((state) =>
    [ACCEPT, DIAL, CONNECTED, SECURE, SECURED, GONE].filter((event) => after(nextConnection, state, event) !== null),
  );
  assert.equal(possible.length, 9);
});

test("a handshake before the connection, a second accept and any event after the close are impossible", () => {
  const { NEW, CONNECTING, OPEN, CLOSED } = states;
  for (const [state, event] of [
    [NEW, states.SECURE],
    [CONNECTING, states.SECURE],
    [OPEN, states.ACCEPT],
    [CLOSED, states.GONE],
    [CLOSED, states.SECURE],
  ] as const)
    assert.equal(after(nextConnection, state, event), null);
  assert.throws(() => nextConnection(CONNECTING, states.SECURE), /in state 'connecting' cannot take the event 'secure'/);
});

test("a close after an end closes, and an end after a close still closes", () => {
  const { STILL_SENDING, CLOSING, SENDING_ENDED, END, CLOSE, ENDED } = states;
  assert.equal(walk(nextSending, STILL_SENDING, END, END, CLOSE), CLOSING);
  assert.equal(walk(nextSending, STILL_SENDING, CLOSE, END), CLOSING);
  assert.equal(walk(nextSending, STILL_SENDING, END, ENDED), SENDING_ENDED);
  assert.equal(walk(nextSending, SENDING_ENDED, CLOSE), CLOSING);
  for (const state of [STILL_SENDING, CLOSING, SENDING_ENDED]) assert.equal(after(nextSending, state, ENDED), null);
});

test("a socket keeps the other side's end, whatever events come before and after it", () => {
  const { EMPTY, READY, LAST, RECEIVING_ENDED, ARRIVED, DRAINED, LAST_ARRIVED, END_ARRIVED } = states;
  assert.equal(walk(nextReceiving, EMPTY, ARRIVED), READY);
  assert.equal(walk(nextReceiving, EMPTY, ARRIVED, DRAINED), EMPTY);
  assert.equal(walk(nextReceiving, EMPTY, LAST_ARRIVED, ARRIVED, DRAINED), LAST);
  for (const state of [EMPTY, READY, LAST, RECEIVING_ENDED]) {
    assert.equal(nextReceiving(state, END_ARRIVED), RECEIVING_ENDED);
    for (const event of [ARRIVED, DRAINED, LAST_ARRIVED, END_ARRIVED])
      assert.equal(walk(nextReceiving, state, END_ARRIVED, event), RECEIVING_ENDED);
  }
});
