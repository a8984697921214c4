import { NO_HISTORY, writeBaseFile } from "./base-file.ts";
import { type Delta, type Op, opsWeight } from "#snapshot/entries.ts";
import type { FeedLog, Position } from "#snapshot/feed.ts";
import { continueJournal, createJournal, type Journal } from "./journal.ts";
import { checkLastGood, type LastGoodFiles, journalPath, lastGoodPosition } from "./last-good.ts";
import type { FeedSource } from "#snapshot/feed.ts";

/** Keeps the last good copy on disk up to date, shortly after each change. */
export interface LastGoodKeeper {
  /** The position of the existing copy, or null. */
  open(): Promise<Position | null>;
  add(delta: Delta, history: string): void;
  /** The copy on disk is missing or belongs to a former history. */
  startOver(): void;
  /** Writes missing changes at once; failures are logged and retried later. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface LastGoodKeeperDeps {
  readonly path: string;
  readonly log: FeedLog;
  readonly stream: FeedSource["stream"];
  /** The earlier result of `checkLastGood`. */
  readonly checked?: LastGoodFiles | null;
}

interface Pending {
  readonly delta: Delta;
  readonly history: string;
}

const DELAY_MS = 100;
const RETRY_MS = 10_000;
/** A journal may grow to the size of its base file, or to this size for a small one. */
const JOURNAL_OPS_MIN = 50_000;
/** And by this much more during a large change: a full copy reads the whole database, which keeps SQLite's log from being copied. */
const JOURNAL_OPS_MORE = 4_000_000;

export function createLastGoodKeeper({ path, log, stream, checked }: LastGoodKeeperDeps): LastGoodKeeper {
  let journal: Journal | null = null;
  /** State on disk, and the sizes of the two files. */
  let rev = 0;
  let history = NO_HISTORY;
  let baseOps = 0;
  let journalOps = 0;
  let pending: Pending[] = [];
  let fullNeeded = false;
  let timer: NodeJS.Timeout | null = null;
  let saving: Promise<void> | null = null;
  let closed = false;
  const staging = createStaging();

  const append = async (): Promise<void> => {
    // A full copy may be of a history that has begun since.
    const deltas = pending.filter((one) => one.history === history && one.delta.rev > rev).map(({ delta }) => delta);
    pending = [];
    // Thousands of deltas may have arrived while a base file was written: they are serialized in batches.
    for (const some of inBatches(deltas)) {
      await journal!.append(some);
      rev = some.at(-1)!.rev;
      journalOps += countOps(some);
    }
  };
  const writeFull = async (): Promise<void> => {
    // Later deltas may or may not be in the copy.
    fullNeeded = false;
    const base = await stream((at, pages) => writeBaseFile(path, at, pages));
    await journal?.close();
    journal = await createJournal(journalPath(path), base);
    ({ rev, history } = base);
    baseOps = base.ops;
    journalOps = 0;
  };
  const opsMax = (): number => Math.max(JOURNAL_OPS_MIN, baseOps) + (staging.isUnderWay() ? JOURNAL_OPS_MORE : 0);
  const save = async (): Promise<void> => {
    try {
      if (fullNeeded || journalOps + countOps(pending.map(({ delta }) => delta)) > opsMax()) await writeFull();
      await append();
    } catch (error) {
      // The journal's state is unknown. The next full copy will contain the pending deltas.
      fullNeeded = true;
      pending = [];
      log("error", "writing the last good copy failed", { path, reason: String(error) });
    }
    saving = null;
  };
  const flush = async (): Promise<void> => {
    while (saving) await saving;
    if (fullNeeded || pending.length > 0) await (saving = save());
  };
  const schedule = (delayMs: number): void => {
    if (timer !== null || closed) return;
    timer = setTimeout(() => {
      timer = null;
      void flush().then(() => {
        if (fullNeeded) schedule(RETRY_MS);
        else if (pending.length > 0) schedule(DELAY_MS);
      });
    }, delayMs);
  };

  return {
    open: async () => {
      const files = checked === undefined ? await checkLastGood(path, log) : checked;
      if (files === null || files.journal.bytes === 0) return null;
      journal = await continueJournal(journalPath(path), files.journal);
      ({ rev, history } = lastGoodPosition(files));
      baseOps = files.base.ops;
      journalOps = files.journal.ops;
      return lastGoodPosition(files);
    },
    add: (delta, of) => {
      staging.add(delta.ops);
      // A full copy that has not begun will contain it.
      if (!fullNeeded) pending.push({ delta, history: of });
      schedule(DELAY_MS);
    },
    startOver: () => {
      pending = [];
      fullNeeded = true;
      staging.clear();
      schedule(DELAY_MS);
    },
    flush,
    close: async () => {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await flush();
      await journal?.close();
    },
  };
}

/** Large changes that have begun and neither been shown nor taken back. */
function createStaging() {
  const zones = new Map<string, string>();
  return {
    isUnderWay: (): boolean => zones.size > 0,
    add: (ops: readonly Op[]): void => {
      for (const op of ops) {
        if (op.kind === "staged" && op.value !== null) zones.set(op.value.import_id, op.value.zone_id);
        else if (op.kind === "release") zones.delete(op.id);
        else if (op.kind === "zone" && op.value === null) for (const [id, zone] of zones) if (zone === op.id) zones.delete(id);
      }
    },
    clear: (): void => zones.clear(),
  };
}

function countOps(deltas: readonly Delta[]): number {
  let ops = 0;
  for (const delta of deltas) ops += opsWeight(delta.ops);
  return ops;
}

/** Ops that are serialized in one tick: some milliseconds. */
const OPS_AT_ONCE = 2_000;

function* inBatches(deltas: readonly Delta[]): Generator<readonly Delta[]> {
  let batch: Delta[] = [];
  let ops = 0;
  for (const delta of deltas) {
    batch.push(delta);
    ops += opsWeight(delta.ops);
    if (ops < OPS_AT_ONCE) continue;
    yield batch;
    batch = [];
    ops = 0;
  }
  if (batch.length > 0) yield batch;
}
