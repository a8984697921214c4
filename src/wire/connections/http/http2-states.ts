import { compileStates, IMPOSSIBLE, ImpossibleEventError, type Transitions } from "#wire/connections/transport/state-table.ts";

/** The time limit that applies to a connection of HTTP/2 in a state while none of its requests is under way. */
type Timer = "settings" | "acknowledgement" | "idle" | "linger" | "none";

interface StateRow extends Transitions<StateName, EventName> {
  readonly timer: Timer;
}

type StateName = "opening" | "unacknowledged" | "serving" | "draining" | "ending" | "closed";
type EventName = (typeof EVENT_NAMES)[number];

const EVENT_NAMES = ["settings", "acknowledged", "last", "ended", "gone"] as const;

/** The states of a client's HTTP/2 connection (RFC 9113 §3.4, §6.5.3, §6.8). Its requests have their own limits and come on top. */
const STATES: Readonly<Record<StateName, StateRow>> = {
  /** Waits for the settings of the client, which come first. */
  opening: { timer: "settings", on: { settings: "unacknowledged", last: "draining", gone: "closed" } },
  /** Serves requests; the client has not acknowledged our settings yet. */
  unacknowledged: {
    timer: "acknowledgement",
    on: { settings: "unacknowledged", acknowledged: "serving", last: "draining", gone: "closed" },
  },
  serving: { timer: "idle", on: { settings: "serving", last: "draining", gone: "closed" } },
  /** A GOAWAY is written: requests under way are answered, further ones are refused. */
  draining: {
    timer: "linger",
    on: { settings: "draining", acknowledged: "draining", last: "draining", ended: "ending", gone: "closed" },
  },
  /** Our side has ended: the client may take the rest and close. */
  ending: { timer: "linger", on: { gone: "closed" } },
  closed: { timer: "none", on: {} },
};

const STATE_NAMES = Object.keys(STATES) as readonly StateName[];

// `state < ENDING`: something may still be written.
export const [OPENING, UNACKNOWLEDGED, SERVING, DRAINING, ENDING, CLOSED] = [0, 1, 2, 3, 4, 5] as const;
export const [SETTINGS, ACKNOWLEDGED, LAST, ENDED, GONE] = [0, 1, 2, 3, 4] as const;

const NEXT = compileStates(STATES, EVENT_NAMES);
const TIMERS: readonly Timer[] = STATE_NAMES.map((name) => STATES[name].timer);

export const http2TimerOf = (state: number): Timer => TIMERS[state] ?? "none";

/** The next state. Throws ImpossibleEventError. */
export function nextHttp2State(state: number, event: number): number {
  const next = NEXT[state * EVENT_NAMES.length + event] ?? IMPOSSIBLE;
  if (next === IMPOSSIBLE) throw new ImpossibleEventError(STATE_NAMES[state], EVENT_NAMES[event]);
  return next;
}
