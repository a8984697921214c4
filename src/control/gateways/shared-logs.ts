import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { LogScope } from "#events/read/log-pieces.ts";
import type { GatewayLogStore, LogChange } from "#events/read/store.ts";
import { isBefore, type NodeBatch, type NodePlace, START } from "#events/rows/node-batch.ts";
import type { Store } from "#store/database/store.ts";
import {
  addSharedLog,
  dropSharedLogs,
  endOfSharedLogs,
  hasOtherLogReaders,
  overflowOfSharedLogs,
  putSharedLogReader,
  type SharedLogReader,
  type SharedLogRow,
  sharedLogAfter,
  sharedLogReader,
  trimSharedLogs,
} from "#store/gateways/shared-logs.ts";
import { eventPlace, hasOtherCollector, putEventPlace } from "#store/nodes/event-places.ts";

/**
 * Logs of gateways on nodes, for all servers with control: the one that takes a batch adds it to a list in the database that they share, and
 * each puts it into its own events. Later changes and deletions take the same way, behind the logs that they are of.
 */
export interface SharedLogs {
  /** This server reads from now on. */
  begin(): Promise<void>;
  /** Adds a batch of logs, once. Null if no other server reads: the caller keeps it alone. */
  take(batch: NodeBatch): Promise<{ readonly stored: NodePlace } | null>;
  /** Reads on until nothing is new. `put` stores a batch in this server's events; entries behind one that it cannot store wait. */
  look(put: (batch: NodeBatch) => Promise<{ readonly stored?: NodePlace; readonly error?: string }>): Promise<void>;
  /** Deletes what all servers have read, and what is too much. */
  trim(): Promise<void>;
  changed(scope: LogScope, id: string, change: LogChange): Promise<void>;
  deleted(scope: LogScope, ids: readonly string[]): Promise<void>;
  /** The time before which this server may lack logs that others have, if that is after the given one; else null. */
  missingBefore(ms: number): Promise<string | null>;
}

export interface SharedLogsDeps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logs: Pick<GatewayLogStore, "change" | "deleteByIds">;
  /** Distinguishes this server from others on the same database. */
  readonly server: string;
  /** Some entries were deleted before this server has read them. */
  onMissed?(): void;
  readonly bytesMax?: number;
}

type Head =
  | ({ readonly type: "batch" } & Omit<NodeBatch, "bytes">)
  | { readonly type: "change"; readonly scope: LogScope; readonly id: string; readonly change: LogChange }
  | { readonly type: "delete"; readonly scope: LogScope; readonly ids: readonly string[] };

const SHARED_LOGS_CONTEXT = "shared-logs";
/** A server that is away for longer begins again, and lacks what came meanwhile. */
export const READER_KEPT_MS = 24 * 3_600_000;
const BYTES_MAX = 4 * 1024 ** 3;
/** Entries until a reader's place is written. */
const NOTED_EVERY = 20;
const SEEN_EVERY_MS = 60_000;
/** Other units of work go first. */
const DUTY = { bulkOf: "" };

export function createSharedLogs(deps: SharedLogsDeps): SharedLogs {
  const { store, sealer, clock, logs, server, onMissed = () => undefined, bytesMax = BYTES_MAX } = deps;

  const entryOf = (head: Head, bytes?: Uint8Array): Omit<SharedLogRow, "seq"> => {
    const [text, body] = [JSON.stringify(head), bytes === undefined ? "" : sealer.seal(bytes, SHARED_LOGS_CONTEXT)];
    return { head: text, body, bytes: text.length + body.length };
  };
  const isShared = (): Promise<boolean> => hasOtherLogReaders(store.read, server);
  const add = async (head: Head): Promise<void> => {
    if (await isShared()) await store.write(({ db }) => addSharedLog(db, entryOf(head)));
  };
  const note = async (reader: SharedLogReader): Promise<void> => {
    await store.write(({ db }) => putSharedLogReader(db, reader), DUTY);
  };
  const begin = async (): Promise<void> => {
    await store.write(async ({ db }) => {
      const known = await sharedLogReader(db, server);
      const seen_ms = clock.nowMs();
      const wasAlone = !(await hasOtherLogReaders(db, server)) && !(await hasOtherCollector(db, "logs", server));
      const first = { server, seq: await endOfSharedLogs(db), since_ms: wasAlone ? 0 : seen_ms };
      await putSharedLogReader(db, { ...(known ?? first), seen_ms });
    });
  };
  const apply = async ({ head: text, body }: SharedLogRow, put: Parameters<SharedLogs["look"]>[0]): Promise<void> => {
    const head = JSON.parse(text) as Head;
    if (head.type === "change") logs.change(head.scope, head.id, head.change);
    else if (head.type === "delete") await logs.deleteByIds(head.scope, head.ids);
    else {
      const { type: _, ...range } = head;
      const { stored, error } = await put({ ...range, bytes: sealer.open(body, SHARED_LOGS_CONTEXT) });
      if (stored === undefined) throw new Error(error ?? "the logs could not be stored");
    }
  };

  return {
    begin,
    take: async (batch) => {
      if (!(await isShared())) return null;
      const { node, source, epoch, from, to, bytes } = batch;
      const entry = entryOf({ type: "batch", node, source, epoch, from, to }, bytes);
      const { result } = await store.write(async ({ db }) => {
        const row = await eventPlace(db, node, source);
        const place = row?.epoch === epoch ? { segment: row.segment, at: row.at } : START;
        // It has arrived already, or it is a question for the place.
        if (!isBefore(from, to) || isBefore(from, place)) return place;
        await addSharedLog(db, entry);
        await putEventPlace(db, { node, source, epoch, ...to, collector: server });
        return to;
      }, DUTY);
      return { stored: result };
    },
    look: async (put) => {
      const reader = await sharedLogReader(store.read, server);
      if (reader === undefined) {
        await begin();
        onMissed();
        return;
      }
      let { seq, since_ms } = reader;
      let noted = seq;
      const noteHere = async (): Promise<void> => {
        await note({ server, seq, since_ms, seen_ms: clock.nowMs() });
        noted = seq;
      };
      try {
        for (;;) {
          const end = await endOfSharedLogs(store.read);
          const next = await sharedLogAfter(store.read, seq);
          if (next === undefined && end <= seq) break;
          if (next?.seq === seq + 1) {
            await apply(next, put);
            seq = next.seq;
          } else {
            onMissed();
            seq = next === undefined ? end : next.seq - 1;
            since_ms = clock.nowMs();
          }
          if (seq - noted >= NOTED_EVERY) await noteHere();
        }
      } finally {
        if (seq !== noted || clock.nowMs() - reader.seen_ms > SEEN_EVERY_MS) await noteHere();
      }
    },
    trim: async () => {
      const overflow = await overflowOfSharedLogs(store.read, bytesMax);
      await store.write(async ({ db }) => {
        await trimSharedLogs(db, clock.nowMs() - READER_KEPT_MS);
        if (overflow !== null) await dropSharedLogs(db, overflow);
      }, DUTY);
    },
    changed: (scope, id, change) => add({ type: "change", scope, id, change }),
    deleted: (scope, ids) => add({ type: "delete", scope, ids }),
    missingBefore: async (ms) => {
      const reader = await sharedLogReader(store.read, server);
      return reader === undefined || reader.since_ms <= ms || !(await isShared()) ? null : new Date(reader.since_ms).toISOString();
    },
  };
}
