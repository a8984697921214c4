import type { Position } from "#snapshot/feed.ts";
import type { BusHead, FullName } from "./bus-message.ts";

/** How far a node may follow, by control's heartbeats (ADR 0315). */
export interface Release {
  /** The newest revision of the history that the node may have. */
  limit(head: BusHead | null, history: string): number;
  /** The newest full copy that the node may have; null without one. */
  copyFor(head: BusHead): FullName | null;
  /** The node has the revision: a release never takes it back. */
  reach(at: Position): void;
}

/** `name`: of the node. */
export function createRelease(name: string): Release {
  let reached: Position = { history: "", rev: -1 };
  const heldBy = ({ rollout }: BusHead): BusHead["rollout"] =>
    rollout === undefined || rollout.canaries.includes(name) ? undefined : rollout;
  return {
    limit: (head, history) => {
      // Control may hold changes back, and only its heartbeat says so.
      if (head === null) return -1;
      const rollout = heldBy(head);
      if (rollout === undefined || head.history !== history) return Infinity;
      return Math.max(rollout.released, reached.history === history ? reached.rev : -1);
    },
    copyFor: (head) => {
      const rollout = heldBy(head);
      return rollout === undefined ? head.full : rollout.full;
    },
    reach: ({ history, rev }) => {
      if (history !== reached.history || rev > reached.rev) reached = { history, rev };
    },
  };
}
