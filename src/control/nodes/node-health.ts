/** Decides which nodes visitors are sent to, from what is heard of them second by second. */
export interface NodeHealth {
  /**
   * Must be called about once a second with all nodes, and whether each serves by its latest report. `isDeaf`: nothing of them could be heard,
   * so silence means nothing. Returns the names of the nodes that get visitors.
   */
  look(nodes: ReadonlyMap<string, boolean>, nowMs: number, isDeaf: boolean): ReadonlySet<string>;
}

/** After the last moment at which a node was well. */
export const LEAVES_AFTER_MS = 10_000;
/** It must be well for so long without a pause, so that a node that comes and goes does not change the answers each time. */
export const RETURNS_AFTER_MS = 15_000;
/** A longer pause between two looks means that this process stood still and has heard nothing. */
const PAUSE_MAX_MS = 5_000;

interface State {
  isIn: boolean;
  lastWellMs: number;
  /** Since when it has been well without a pause. */
  wellSinceMs: number | null;
}

/** `wasIn`: whether a node that is seen for the first time has visitors now. */
export function createNodeHealth(wasIn: (name: string) => boolean): NodeHealth {
  const states = new Map<string, State>();
  let lookedMs = -Infinity;
  return {
    look: (nodes, nowMs, isDeaf) => {
      const isBlind = isDeaf || nowMs - lookedMs > PAUSE_MAX_MS;
      lookedMs = nowMs;
      for (const name of states.keys()) if (!nodes.has(name)) states.delete(name);
      for (const [name, isWell] of nodes) {
        const state = states.get(name) ?? { isIn: wasIn(name), lastWellMs: nowMs, wellSinceMs: null };
        states.set(name, state);
        state.wellSinceMs = isWell && !isBlind ? (state.wellSinceMs ?? nowMs) : null;
        if (isWell || isBlind) state.lastWellMs = nowMs;
        if (state.isIn) state.isIn = nowMs - state.lastWellMs < LEAVES_AFTER_MS;
        else state.isIn = state.wellSinceMs !== null && nowMs - state.wellSinceMs >= RETURNS_AFTER_MS;
      }
      return new Set([...states].filter(([, { isIn }]) => isIn).map(([name]) => name));
    },
  };
}
