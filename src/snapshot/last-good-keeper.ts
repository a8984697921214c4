import { writeBaseFile } from "./base-file.ts";
import { type Delta, opsWeight } from "./entries.ts";
import type { FeedLog } from "./feed.ts";
import { continueJournal, createJournal, type Journal } from "./journal.ts";
import { checkLastGood, journalPath } from "./last-good.ts";
import type { FeedSource } from "./publisher.ts";

/** Keeps the last good copy on disk up to date, shortly after each change. */
export interface LastGoodKeeper {
  /** The revision of the copy that is there, or null. */
  open(): Promise<number | null>;
  add(delta: Delta): void;
  /** What is on disk belongs to a history that is gone, or there is nothing. */
  startOver(): void;
  /** Writes what is missing at once; failures are logged and retried later. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface LastGoodKeeperDeps {
  readonly path: string;
  readonly log: FeedLog;
  readonly stream: FeedSource["stream"];
}

const DELAY_MS = 100;
const RETRY_MS = 10_000;
/** A journal may grow to the size of its base file, or to this where that is small. */
const JOURNAL_OPS_MIN = 50_000;

export function createLastGoodKeeper({ path, log, stream }: LastGoodKeeperDeps): LastGoodKeeper {
  let journal: Journal | null = null;
  /** The revision on disk, and how large the two files are. */
  let rev = 0;
  let baseOps = 0;
  let journalOps = 0;
  let pending: Delta[] = [];
  let fullNeeded = false;
  let timer: NodeJS.Timeout | null = null;
  let saving: Promise<void> | null = null;
  let closed = false;

  const append = async (): Promise<void> => {
    const deltas = pending.filter((delta) => delta.rev > rev);
    pending = [];
    // While a base file was written thousands may have come together: as text they are made some at a time.
    for (const some of inBatches(deltas)) {
      await journal!.append(some);
      rev = some.at(-1)!.rev;
      journalOps += countOps(some);
    }
  };
  const writeFull = async (): Promise<void> => {
    // From here on, what comes may or may not be in the copy.
    fullNeeded = false;
    const base = await stream((at, pages) => writeBaseFile(path, at, pages));
    await journal?.close();
    journal = await createJournal(journalPath(path), base);
    rev = base.rev;
    baseOps = base.ops;
    journalOps = 0;
  };
  const save = async (): Promise<void> => {
    try {
      if (fullNeeded || journalOps + countOps(pending) > Math.max(JOURNAL_OPS_MIN, baseOps)) await writeFull();
      await append();
    } catch (error) {
      // Nobody knows how far the journal got. The next full copy will have what is pending now.
      fullNeeded = true;
      pending = [];
      log("error", "the last good copy could not be written", { path, reason: String(error) });
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
      const files = await checkLastGood(path, log);
      if (files === null || files.journal.bytes === 0) return null;
      journal = await continueJournal(journalPath(path), files.journal);
      rev = files.journal.rev;
      baseOps = files.base.ops;
      journalOps = files.journal.ops;
      return rev;
    },
    add: (delta) => {
      // A full copy that has not begun will have it.
      if (!fullNeeded) pending.push(delta);
      schedule(DELAY_MS);
    },
    startOver: () => {
      pending = [];
      fullNeeded = true;
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

function countOps(deltas: readonly Delta[]): number {
  let ops = 0;
  for (const delta of deltas) ops += opsWeight(delta.ops);
  return ops;
}

/** Ops that are made text in one turn: some milliseconds. */
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
