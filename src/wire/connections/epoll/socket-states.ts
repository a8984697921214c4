import { compileStates, IMPOSSIBLE, ImpossibleEventError, type Transitions } from "#wire/connections/transport/state-table.ts";

/**
 * A socket of the epoll loop is three machines: the connection, the side that sends and the side that receives. Each is a table, so
 * that a combination which no row names cannot come about. Owners may call a method of the transport in any order and more than once:
 * where that is allowed, the state stays as it is.
 */

const CONNECTION_EVENTS = ["accept", "dial", "connected", "secure", "secured", "gone"] as const;
type Connection = "new" | "connecting" | "open" | "securing" | "closed";

const CONNECTION: Readonly<Record<Connection, Transitions<Connection, (typeof CONNECTION_EVENTS)[number]>>> = {
  new: { on: { accept: "open", dial: "connecting", gone: "closed" } },
  connecting: { on: { connected: "open", gone: "closed" } },
  /** Plain, or encrypted once `securing` is over. */
  open: { on: { secure: "securing", gone: "closed" } },
  /** The TLS handshake: nothing is delivered or sent. */
  securing: { on: { secured: "open", gone: "closed" } },
  closed: { on: {} },
};

const SENDING_EVENTS = ["end", "close", "ended"] as const;
type Sending = "sending" | "ending" | "closing" | "ended";

/** Our side. */
const SENDING: Readonly<Record<Sending, Transitions<Sending, (typeof SENDING_EVENTS)[number]>>> = {
  sending: { on: { end: "ending", close: "closing" } },
  /** Our side ends once everything is sent. */
  ending: { on: { end: "ending", close: "closing", ended: "ended" } },
  /** The connection closes once everything is sent. */
  closing: { on: { end: "closing", close: "closing" } },
  ended: { on: { end: "ended", close: "closing" } },
};

const RECEIVING_EVENTS = ["arrived", "drained", "last", "end"] as const;
type Receiving = "empty" | "ready" | "last" | "ended";

/** The other side. */
const RECEIVING: Readonly<Record<Receiving, Transitions<Receiving, (typeof RECEIVING_EVENTS)[number]>>> = {
  /** An event of the loop reports the next bytes. */
  empty: { on: { arrived: "ready", drained: "empty", last: "last", end: "ended" } },
  /** Bytes may be there to be read. */
  ready: { on: { arrived: "ready", drained: "empty", last: "last", end: "ended" } },
  /** The end follows the bytes that are left, and no further event reports them. */
  last: { on: { arrived: "last", drained: "last", last: "last", end: "ended" } },
  /** The owner knows of the end; what a read returns from now on is the end again, or an error. */
  ended: { on: { arrived: "ended", drained: "ended", last: "ended", end: "ended" } },
};

export const [NEW, CONNECTING, OPEN, SECURING, CLOSED] = [0, 1, 2, 3, 4] as const;
export const [ACCEPT, DIAL, CONNECTED, SECURE, SECURED, GONE] = [0, 1, 2, 3, 4, 5] as const;
export const [STILL_SENDING, ENDING, CLOSING, SENDING_ENDED] = [0, 1, 2, 3] as const;
export const [END, CLOSE, ENDED] = [0, 1, 2] as const;
export const [EMPTY, READY, LAST, RECEIVING_ENDED] = [0, 1, 2, 3] as const;
export const [ARRIVED, DRAINED, LAST_ARRIVED, END_ARRIVED] = [0, 1, 2, 3] as const;

const NEXT_CONNECTION = compileStates(CONNECTION, CONNECTION_EVENTS);
const NEXT_SENDING = compileStates(SENDING, SENDING_EVENTS);
const NEXT_RECEIVING = compileStates(RECEIVING, RECEIVING_EVENTS);

/** The next state of the connection. Throws ImpossibleEventError. */
export function nextConnection(state: number, event: number): number {
  const next = NEXT_CONNECTION[state * CONNECTION_EVENTS.length + event] ?? IMPOSSIBLE;
  if (next === IMPOSSIBLE) throw new ImpossibleEventError(Object.keys(CONNECTION)[state], CONNECTION_EVENTS[event]);
  return next;
}

/** The next state of our side. Throws ImpossibleEventError. */
export function nextSending(state: number, event: number): number {
  const next = NEXT_SENDING[state * SENDING_EVENTS.length + event] ?? IMPOSSIBLE;
  if (next === IMPOSSIBLE) throw new ImpossibleEventError(Object.keys(SENDING)[state], SENDING_EVENTS[event]);
  return next;
}

/** The next state of the other side. Every event is possible in every state, since the network orders them. */
export const nextReceiving = (state: number, event: number): number =>
  NEXT_RECEIVING[state * RECEIVING_EVENTS.length + event] ?? IMPOSSIBLE;
