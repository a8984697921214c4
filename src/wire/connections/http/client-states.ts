/** What a connection of HTTP/1.x may wait for, which decides when it has waited too long (`client-deadlines.ts`). */
type Timer = "request" | "exchange" | "body" | "reader" | "tunnel" | "linger" | "none";

interface StateRow {
  readonly timer: Timer;
  /** The states that events lead to; any other event is impossible. */
  readonly on: Readonly<Partial<Record<EventName, StateName>>>;
}

type StateName = "awaiting" | "exchange" | "passing over" | "behind" | "tunnel" | "closing" | "closed";
type EventName = (typeof EVENT_NAMES)[number];

const EVENT_NAMES = ["begun", "answered", "answered early", "answered behind", "caught up", "switched", "last", "gone"] as const;

/**
 * A client's connection of HTTP/1.x (RFC 9112 §9), one table for all planes that serve it. Nothing of one request may stand in
 * the state of the next: what belongs to a request ends with it.
 */
const STATES: Readonly<Record<StateName, StateRow>> = {
  /** Waits for a request; a new connection has the time of a head, one that was served before that of an idle one. */
  awaiting: { timer: "request", on: { begun: "exchange", last: "closing", gone: "closed" } },
  /** One request is under way, from its head to the last byte of its answer. */
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
  /** The answer came first: what is left of the request's body is read and dropped. */
  "passing over": { timer: "body", on: { answered: "awaiting", last: "closing", gone: "closed" } },
  /** Answers wait for their reader; until they are gone no further request is taken. */
  behind: { timer: "reader", on: { "caught up": "awaiting", last: "closing", gone: "closed" } },
  /** Upgraded: both sides send what they like. */
  tunnel: { timer: "tunnel", on: { gone: "closed" } },
  /** Everything is written; the other side may take it and end. */
  closing: { timer: "linger", on: { gone: "closed" } },
  closed: { timer: "none", on: {} },
};

const STATE_NAMES = Object.keys(STATES) as readonly StateName[];

// Numbers, so that a connection's state costs one look into a small array.
export const [AWAITING, EXCHANGE, PASSING_OVER, BEHIND, TUNNEL, CLOSING, CLOSED] = [0, 1, 2, 3, 4, 5, 6] as const;
export const [BEGUN, ANSWERED, ANSWERED_EARLY, ANSWERED_BEHIND, CAUGHT_UP, SWITCHED, LAST, GONE] = [0, 1, 2, 3, 4, 5, 6, 7] as const;

/** In place of a state where an event cannot be. */
export const IMPOSSIBLE = 255;

const NEXT = new Uint8Array(STATE_NAMES.length * EVENT_NAMES.length).fill(IMPOSSIBLE);
STATE_NAMES.forEach((name, state) => {
  for (const [event, next] of Object.entries(STATES[name].on))
    NEXT[state * EVENT_NAMES.length + EVENT_NAMES.indexOf(event as EventName)] = STATE_NAMES.indexOf(next);
});

/** The state that the event leads to, or `IMPOSSIBLE`. */
export const nextState = (state: number, event: number): number => NEXT[state * EVENT_NAMES.length + event] ?? IMPOSSIBLE;

const TIMERS: readonly Timer[] = STATE_NAMES.map((name) => STATES[name].timer);

export const timerOf = (state: number): Timer => TIMERS[state] ?? "none";

/** A plane's own fault, which costs this connection and is written to the log. */
export class ImpossibleEventError extends Error {
  constructor(state: number, event: number) {
    super(`a client's connection in state '${STATE_NAMES[state]}' cannot take the event '${EVENT_NAMES[event]}'`);
  }
}

/** Nothing moved on a connection for longer than anybody who is waited for may take. */
export class StalledExchangeError extends Error {
  constructor() {
    super("an exchange waits for something that never comes; its connection is closed");
  }
}
