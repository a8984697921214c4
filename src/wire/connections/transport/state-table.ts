/** Marks an event that is impossible in a state. */
export const IMPOSSIBLE = 255;

/** A state's next state by event; any other event is impossible. */
export interface Transitions<State extends string, Event extends string> {
  readonly on: Readonly<Partial<Record<Event, State>>>;
}

/**
 * The table as numbers, so that a transition costs one look into a small array: `state * events.length + event` holds the next state or
 * `IMPOSSIBLE`. States are numbered in the order of their rows.
 */
export function compileStates<State extends string, Event extends string>(
  states: Readonly<Record<State, Transitions<State, Event>>>,
  events: readonly Event[],
): Uint8Array {
  const names = Object.keys(states) as State[];
  const next = new Uint8Array(names.length * events.length).fill(IMPOSSIBLE);
  names.forEach((name, state) => {
    events.forEach((event, at) => {
      const target = states[name].on[event];
      if (target !== undefined) next[state * events.length + at] = names.indexOf(target);
    });
  });
  return next;
}

/** A fault of the plane itself. It costs this connection and is written to the log. */
export class ImpossibleEventError extends Error {
  constructor(state: string | undefined, event: string | undefined) {
    super(`a connection in state '${state}' cannot take the event '${event}'`);
  }
}
