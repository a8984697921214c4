import type { Call } from "#control/call.ts";
import type { PolicyRow } from "#store/events/notifications.ts";
import { WINDOW_MS } from "./spikes.ts";

/** Which windows this node looks at. */
export interface WindowClaims {
  /** `endMs` is that of the newest window which is over. Null where another node looks. */
  begin(call: Call, policies: readonly PolicyRow[], endMs: number): Promise<Round | null>;
}

export interface Round {
  /** Of the window to look at. */
  readonly endMs: number;
  /** For a whole window or longer nobody has looked: spikes may have ended and begun meanwhile. */
  readonly isFirst: boolean;
}

/** Every one: this is the only node. */
export function createWindowClaims(): WindowClaims {
  let lookedMs = Number.NEGATIVE_INFINITY;
  return {
    begin: async (_call, _policies, endMs) => {
      const isFirst = isLongAgo(lookedMs, endMs);
      lookedMs = endMs;
      return { endMs, isFirst };
    },
  };
}

/** A clock that was set back has looked at times that are still to come. */
export const isLongAgo = (lookedMs: number, endMs: number): boolean => Math.abs(endMs - lookedMs) > WINDOW_MS;
