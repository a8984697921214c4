import type { DatabaseSync } from "node:sqlite";
import { isBefore, type NodeBatch, type NodePlace, START } from "#events/rows/node-batch.ts";

/** The place up to which the file has the events of each node. */
export interface NodePlaces {
  /**
   * Runs the work if the batch continues at the place, or after records that the node has deleted; returns the place after it. Must run
   * in the transaction of the work.
   */
  take(batch: NodeBatch, work: () => void): NodePlace;
}

export function createNodePlaces(db: DatabaseSync): NodePlaces {
  db.exec(
    "CREATE TABLE IF NOT EXISTS node_places (node TEXT NOT NULL, source TEXT NOT NULL, epoch TEXT NOT NULL, segment INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (node, source)) STRICT, WITHOUT ROWID",
  );
  const known = db.prepare("SELECT segment, at FROM node_places WHERE node = ? AND source = ? AND epoch = ?");
  const remember = db.prepare(
    "INSERT INTO node_places (node, source, epoch, segment, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET epoch = excluded.epoch, segment = excluded.segment, at = excluded.at",
  );
  return {
    take: ({ node, source, epoch, from, to }, work) => {
      const row = known.get(node, source, epoch);
      const place = row === undefined ? START : { segment: Number(row["segment"]), at: Number(row["at"]) };
      // A batch that begins before the place has arrived already, at least in part: the node sends the rest by itself.
      if (!isBefore(from, to) || isBefore(from, place)) return place;
      work();
      remember.run(node, source, epoch, to.segment, to.at);
      return to;
    },
  };
}
