import { setTimeout as pause } from "node:timers/promises";
import { type BatchAnswer, type BatchRange, type BatchSource, isBefore, type NodePlace, START } from "#events/rows/node-batch.ts";
import type { BatchFiles } from "./spool.ts";

export interface BatchSenderDeps {
  readonly source: BatchSource;
  readonly epoch: string;
  readonly files: BatchFiles;
  /** Resolves with control's answer, or with an error without one. */
  ask(range: BatchRange, bytes: Uint8Array): Promise<Omit<BatchAnswer, "request">>;
  /** Control will never take this batch. */
  refused(range: BatchRange, reason: string): void;
}

/** Sends the records of files to control, one batch after the other, for as long as the thread runs. */
export interface BatchSender {
  /** Control has all records before it; the start until control has answered. */
  place(): NodePlace;
  /** Call when new records may exist. */
  wake(): void;
  stop(): void;
}

const BATCH_BYTES = 1024 * 1024;
const RETRY_MS = 500;
/** Interval for checking files that another thread writes. */
const LOOK_MS = 100;
const NOTHING = new Uint8Array();

/**
 * Control reports up to which place it has all records; the sender continues there and deletes the records before. If one of the two
 * dies, the next question synchronizes them: control does not take a batch twice, because it knows its place.
 */
export function createBatchSender({ source, epoch, files, ask, refused }: BatchSenderDeps): BatchSender {
  const stopping = new AbortController();
  let place: NodePlace | null = null;
  /** The last batch: if its answer is lost, another process with control gets the same one, and so knows that it is (ADR 0328). */
  let sent: Pick<BatchRange, "from" | "to"> | null = null;
  let wake = (): void => undefined;
  const look = async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    const timer = setTimeout(resolve, LOOK_MS).unref();
    await promise;
    clearTimeout(timer);
  };
  const bytesFrom = (from: NodePlace): number => {
    if (sent === null || sent.from.segment !== from.segment || sent.from.at !== from.at) return BATCH_BYTES;
    return sent.to.segment === from.segment ? sent.to.at - from.at : sent.to.at;
  };
  const step = async (): Promise<void> => {
    const batch = place === null ? null : files.next(place, bytesFrom(place));
    if (place !== null && batch === null) return look();
    const from = place ?? START;
    const range = { source, epoch, from, to: batch?.to ?? from };
    if (batch !== null) sent = range;
    const { stored, refused: reason, error } = await ask(range, batch?.bytes ?? NOTHING);
    if (stored === undefined) throw new Error(error ?? "no answer");
    if (reason !== undefined) refused(range, reason);
    place = stored;
    files.release(stored);
    // Control's events are older than its last answer, as after a restore: records still on disk are sent again.
    if (batch !== null && isBefore(stored, from)) await look();
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted)
      await step().catch(async () => {
        place = null;
        await pause(RETRY_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      });
  };
  void run();
  return {
    place: () => place ?? START,
    wake: () => wake(),
    stop: () => {
      stopping.abort();
      wake();
    },
  };
}
