import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { RolloutStatus } from "#model/access/node.ts";
import type { Position } from "#snapshot/feed.ts";
import { allNodes } from "#store/nodes/nodes.ts";
import { changeRollout, rolloutRow } from "#store/nodes/rollout.ts";
import type { Store } from "#store/database/store.ts";

/** How changes reach nodes: canaries first, the others after them. */
export interface Rollouts {
  status(): Promise<RolloutStatus>;
  /** Nothing more reaches the nodes after the canaries. A pause that is there keeps its reason. */
  pause(reason: string): Promise<void>;
  resume(): Promise<void>;
  /** Facts for the process that publishes. */
  known(): Promise<Position & { readonly canaries: readonly string[]; readonly isPaused: boolean }>;
  keep(released: Position): Promise<void>;
}

export function createRollouts({ store, clock }: { readonly store: Store; readonly clock: Clock }): Rollouts {
  const canaryNames = async (): Promise<readonly string[]> =>
    (await allNodes(store.read)).filter(({ ring, joined_on }) => ring === "canary" && joined_on !== null).map(({ name }) => name);
  return {
    status: async () => {
      const [row, canaries, { history, rev }] = [await rolloutRow(store.read), await canaryNames(), await store.position()];
      const state = row.paused !== null ? "paused" : canaries.length === 0 ? "off" : "on";
      const isKept = state !== "off" && row.history === history && row.released >= 0;
      return {
        ...{ state, canaries: [...canaries], revision: rev, released: isKept ? Math.min(row.released, rev) : rev },
        ...{ reason: row.paused, paused_on: row.paused_on },
      };
    },
    pause: async (paused) => {
      await store.write(async ({ db }) => {
        if ((await rolloutRow(db)).paused === null) await changeRollout(db, { paused, paused_on: isoMicros(clock.nowMicros()) });
      });
    },
    resume: async () => {
      await store.write(async ({ db }) => changeRollout(db, { paused: null, paused_on: null }));
    },
    known: async () => {
      const { history, released: rev, paused } = await rolloutRow(store.read);
      return { history, rev, canaries: await canaryNames(), isPaused: paused !== null };
    },
    keep: async ({ history, rev: released }) => {
      await store.write(async ({ db }) => changeRollout(db, { history, released }));
    },
  };
}
