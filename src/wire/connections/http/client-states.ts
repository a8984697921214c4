import { compileStates, IMPOSSIBLE, ImpossibleEventError, type Transitions } from "#wire/connections/transport/state-table.ts";

/** The time limit that applies to a connection of HTTP/1.x in a state (`client-deadlines.ts`). */
type Timer = "request" | "exchange" | "body" | "reader" | "tunnel" | "linger" | "none";

interface StateRow extends Transitions<StateName, EventName> {
  readonly timer: Timer;
}

type StateName = "awaiting" | "exchange" | "passing over" | "behind" | "tunnel" | "closing" | "closed";
type EventName = (typeof EVENT_NAMES)[number];

const EVENT_NAMES = ["begun", "answered", "answered early", "answered behind", "caught up", "switched", "last", "gone"] as const;

/**
 * The states of a client's HTTP/1.x connection (RFC 9112 §9), one table for all planes. State of one request must never
 * reach the next: it ends with its request.
 */
const STATES: Readonly<Record<StateName, StateRow>> = {
  /** Waits for a request. A new connection has the time for a head, one that was served before has the idle time. */
  awaiting: { timer: "request", on: { begun: "exchange", last: "closing", gone: "closed" } },
  /** One request is under way, from its head to the last byte of its response. */
  exchange: {
    timer: "exchange",
    on: {
      answered: "awaiting",
      "answered early": "passing over",
      "answered behind": "behind",
      switched: "tunnel",
      last: "closing",
      gone: "closed",
    },
  },
  /** The response came first: the rest of the request body is read and dropped. */
  "passing over": { timer: "body", on: { answered: "awaiting", last: "closing", gone: "closed" } },
  /** Responses wait for their reader; until it has taken them no further request is read. */
  behind: { timer: "reader", on: { "caught up": "awaiting", last: "closing", gone: "closed" } },
  /** Upgraded: both sides send bytes of another protocol. */
  tunnel: { timer: "tunnel", on: { gone: "closed" } },
  /** Everything is written; the other side may take it and close. */
  closing: { timer: "linger", on: { gone: "closed" } },
  closed: { timer: "none", on: {} },
};

const STATE_NAMES = Object.keys(STATES) as readonly StateName[];

export const [AWAITING, EXCHANGE, PASSING_OVER, BEHIND, TUNNEL, CLOSING, CLOSED] = [0, 1, 2, 3, 4, 5, 6] as const;
export const [BEGUN, ANSWERED, ANSWERED_EARLY, ANSWERED_BEHIND, CAUGHT_UP, SWITCHED, LAST, GONE] = [0, 1, 2, 3, 4, 5, 6, 7] as const;

const NEXT = compileStates(STATES, EVENT_NAMES);

/** The next state, or `IMPOSSIBLE`. */
export const nextState = (state: number, event: number): number => NEXT[state * EVENT_NAMES.length + event] ?? IMPOSSIBLE;

const TIMERS: readonly Timer[] = STATE_NAMES.map((name) => STATES[name].timer);

export const timerOf = (state: number): Timer => TIMERS[state] ?? "none";

/** A fault of the plane itself, for a pair of numbers that has no next state. */
export const impossibleEvent = (state: number, event: number): ImpossibleEventError =>
  new ImpossibleEventError(STATE_NAMES[state], EVENT_NAMES[event]);

/** Nothing moved on a connection for longer than any origin or provider may take. */
export class StalledExchangeError extends Error {
  constructor() {
    super("an exchange waits for something that never comes; its connection is closed");
  }
}
