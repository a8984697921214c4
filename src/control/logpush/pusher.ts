import { setTimeout as pause } from "node:timers/promises";
import type { OutboundAddressAllowed } from "#control/outbound.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { storedSettings } from "#model/gateways/gateway.ts";
import type { LogpushSettings } from "#model/events/logpush.ts";
import { gatewaysOf } from "#store/gateways/gateways.ts";
import { enabledLogpushJobs, type LogpushJobRow, updateLogpushJob } from "#store/events/logpush-jobs.ts";
import type { Store } from "#store/database/store.ts";
import type { LogPosition } from "#events/logs/tail.ts";
import type { BatchBounds, LogBatch } from "./batch.ts";
import { batchReader, type PushedGateway, type ReadOrderedBatch } from "./batch-order.ts";
import type { LogUpload } from "./destination.ts";
import { readDestination, upload } from "./upload.ts";
import { createLogPositions } from "./positions.ts";
import { createUploadMemory } from "./upload-memory.ts";

/** Pushes the logs of due jobs: each log at least once, in order, from the job's position. */
export interface LogPusher {
  /** Returns the results of due jobs; one that takes longer continues during later calls. */
  pushDue(): Promise<{ readonly pushed: number; readonly failures: readonly string[] }>;
  /** Makes the job due at once, because it was changed. */
  hurry(job: number): void;
  /** Aborts running uploads, which are repeated after the next start. */
  close(): Promise<void>;
}

export interface LogPusherDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Directory of the segments. */
  readonly directory: string;
  readonly allowed: OutboundAddressAllowed;
  /** Reads in this thread unless given. */
  readonly readBatch?: ReadOrderedBatch | undefined;
  /** Default: 256 MiB. */
  readonly memoryBytesMax?: number;
}

/** The vendor's defaults for jobs without their own; memory limits the configurable maximum. */
const RECORDS_MAX = 100_000;
const BATCH_BYTES_MAX = 32 * 1024 * 1024;
/** Files that all jobs together read or send at a time. */
const MEMORY_BYTES_MAX = 8 * BATCH_BYTES_MAX;
const INTERVAL_SECONDS = 30;
const LOW_FREQUENCY_SECONDS = 300;
/** After so many full batches the job yields, so that a change of it takes effect. */
const BATCHES_A_TURN = 20;
const RETRY_MS = [10_000, 30_000, 60_000, 300_000, 900_000];
const LATE_MS = 1_000;
/** Maximum time that the caller waits for slow jobs. */
const WAIT_MS = 5_000;

interface Turn {
  readonly dueMs: number;
  readonly failures: number;
}

/** Sealing context of a job's destination. */
export const destinationContext = (id: number): string => `logpush:${id}`;

export function createLogPusher({
  store,
  clock,
  sealer,
  directory,
  allowed,
  readBatch = batchReader(clock),
  memoryBytesMax = MEMORY_BYTES_MAX,
}: LogPusherDeps): LogPusher {
  const memory = createUploadMemory(memoryBytesMax);
  const positions = createLogPositions(directory);
  const turns = new Map<number, Turn>();
  const running = new Map<number, Promise<void>>();
  const closing = new AbortController();

  const gateways = async (accountId: string): Promise<readonly PushedGateway[]> =>
    (await gatewaysOf(store.read, accountId)).flatMap(({ id, created_at, settings }) => {
      const { logpush, logpush_public_key: public_key } = storedSettings(settings);
      return logpush ? [{ id, since_ms: Date.parse(created_at), public_key }] : [];
    });

  /** `isLate`: the job must try again soon. */
  const push = async (job: LogpushJobRow): Promise<{ readonly records: number; readonly isLate: boolean }> => {
    const settings = JSON.parse(job.settings) as LogpushSettings;
    const destination = readDestination(sealer.open(job.destination, destinationContext(job.id)).toString(), allowed);
    const bounds = boundsOf(settings);
    const order = {
      directory,
      account_id: job.account_id,
      since_ms: job.since_ms,
      gateways: await gateways(job.account_id),
      output: settings.output_options,
    };
    let records = 0;
    for (let n = 0; n < BATCHES_A_TURN; n++) {
      const from = positions.get(job.id) ?? null;
      const held = memory.take(job.account_id, bounds.bytesMax);
      // Others' files fill the memory; their uploads end within a minute.
      if (held === null) return { records, isLate: true };
      let batch: LogBatch;
      try {
        batch = await readBatch({ ...order, from, bounds: { ...bounds, bytesMax: held.bytes } });
        held.shrink(batch.body.byteLength);
        if (batch.records > 0)
          await upload(destination, fileOf(job.id, from, batch), { allowed, nowMs: clock.nowMs(), signal: closing.signal });
      } finally {
        held.release();
      }
      if (batch.next.segment !== from?.segment || batch.next.at !== from.at) positions.set(job.id, batch.next);
      records += batch.records;
      if (!batch.isFull) break;
    }
    return { records, isLate: false };
  };

  /** Runs the job; returns its failure, if any. */
  const run = async (job: LogpushJobRow): Promise<{ readonly records: number; readonly failure?: string }> => {
    const before = turns.get(job.id)?.failures ?? 0;
    try {
      const { records, isLate } = await push(job);
      const waitMs = isLate ? LATE_MS : intervalMs(JSON.parse(job.settings) as LogpushSettings);
      turns.set(job.id, { dueMs: clock.monotonicMs() + waitMs, failures: 0 });
      if (records > 0)
        await store.write(({ db }) =>
          updateLogpushJob(db, job.id, { last_complete: isoMicros(clock.nowMicros()), last_error: null, error_message: null }),
        );
      return { records };
    } catch (error) {
      if (closing.signal.aborted) return { records: 0 };
      const failure = reasonOf(error);
      turns.set(job.id, { dueMs: clock.monotonicMs() + (RETRY_MS[Math.min(before, RETRY_MS.length - 1)] ?? 0), failures: before + 1 });
      await store.write(({ db }) => updateLogpushJob(db, job.id, { last_error: isoMicros(clock.nowMicros()), error_message: failure }));
      return { records: 0, failure: `job ${job.id}: ${failure}` };
    }
  };

  return {
    pushDue: async () => {
      const jobs = await enabledLogpushJobs(store.read);
      const known = new Set(jobs.map(({ id }) => id));
      positions.keepOnly(known);
      for (const id of turns.keys()) if (!known.has(id)) turns.delete(id);
      let pushed = 0;
      const failures: string[] = [];
      const started = jobs
        .filter(({ id }) => !running.has(id) && !closing.signal.aborted && clock.monotonicMs() >= (turns.get(id)?.dueMs ?? 0))
        .map((job) => {
          const ended = run(job)
            .then(({ records, failure }) => {
              pushed += records;
              if (failure !== undefined) failures.push(failure);
            })
            .finally(() => running.delete(job.id));
          running.set(job.id, ended);
          return ended;
        });
      await Promise.race([Promise.all(started), pause(WAIT_MS, undefined, { ref: false, signal: closing.signal }).catch(() => undefined)]);
      return { pushed, failures };
    },
    hurry: (job) => void turns.delete(job),
    close: async () => {
      closing.abort();
      await Promise.allSettled(running.values());
    },
  };
}

/**
 * The name contains the starting position: when pushed again after a crash, the file has the same name, and may contain
 * newer logs.
 */
function fileOf(job: number, from: LogPosition | null, { firstMs, body }: LogBatch): LogUpload {
  const time = new Date(firstMs ?? 0).toISOString().replaceAll(/[-:.]/g, "");
  const place = from === null ? "start" : `${from.segment}-${from.at}`;
  return { name: `${time}_${job}_${place}.log.gz`, day: time.slice(0, 8), form: "gzip", body };
}

const boundsOf = ({ max_upload_bytes, max_upload_records }: LogpushSettings): BatchBounds => ({
  bytesMax: Math.min(max_upload_bytes || BATCH_BYTES_MAX, BATCH_BYTES_MAX),
  recordsMax: max_upload_records || RECORDS_MAX,
});

const intervalMs = ({ max_upload_interval_seconds: seconds, frequency }: LogpushSettings): number =>
  (seconds || (frequency === "low" ? LOW_FREQUENCY_SECONDS : INTERVAL_SECONDS)) * 1000;

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message || error.name : String(error)).slice(0, 500);
