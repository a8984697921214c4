import { type BatchRange, isBefore, type NodePlace } from "#events/rows/node-batch.ts";
import type { Store } from "#store/database/store.ts";
import { eventPlace, putEventPlace } from "#store/nodes/event-places.ts";

/** Places in the logs of nodes that processes with control share, since each has its own database of events. */
export interface SharedPlaces {
  /** The place before which another process has the node's events; null if the node's newest events are in this process. */
  ofOthers(node: string, range: Pick<BatchRange, "source" | "epoch">): Promise<NodePlace | null>;
  /** This process has the events before the place. */
  keep(node: string, range: Pick<BatchRange, "source" | "epoch">, place: NodePlace): Promise<void>;
}

/** `collector` identifies this process. */
export function createSharedPlaces(store: Store, collector: string): SharedPlaces {
  return {
    ofOthers: async (node, { source, epoch }) => {
      const row = await eventPlace(store.read, node, source);
      return row === undefined || row.epoch !== epoch || row.collector === collector ? null : { segment: row.segment, at: row.at };
    },
    keep: async (node, { source, epoch }, place) => {
      await store.write(async ({ db }) => {
        const row = await eventPlace(db, node, source);
        // A process that was frozen may have an older place.
        if (row !== undefined && row.epoch === epoch && !isBefore(row, place)) return;
        await putEventPlace(db, { node, source, epoch, ...place, collector });
      });
    },
  };
}
