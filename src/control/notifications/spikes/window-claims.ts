import type { Call } from "#control/call.ts";
import type { PolicyRow } from "#store/events/notifications.ts";
import { WINDOW_MS } from "./spikes.ts";

/** Decides which windows this node evaluates. */
export interface WindowClaims {
  /** `endMs`: end of the newest complete window. Null if another node evaluates it. */
  begin(call: Call, policies: readonly PolicyRow[], endMs: number): Promise<Round | null>;
}

export interface Round {
  /** End of the window to evaluate. */
  readonly endMs: number;
  /** No node has evaluated for at least a whole window, so spikes may have ended and begun meanwhile. */
  readonly isFirst: boolean;
}

/** For a single node, which evaluates every window. */
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

/** After a clock was set back, the last check may be in the future. */
export const isLongAgo = (lookedMs: number, endMs: number): boolean => Math.abs(endMs - lookedMs) > WINDOW_MS;
