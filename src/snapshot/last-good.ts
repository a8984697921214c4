import { type BaseFile, readBaseFile } from "./base-file.ts";
import type { EntryKind, Op } from "./entries.ts";
import type { FeedLog, FullCopy } from "./feed.ts";
import { type JournalContent, readJournal } from "./journal.ts";

/** The journal of the base file at `path`. */
export const journalPath = (path: string): string => `${path}.journal`;

/**
 * The last good copy: what a plane serves when it starts and control is not there. A base file and the
 * journal of what changed since, of all kinds or of some. Null where there is none, or where the base file is refused, which is
 * logged as an error; a damaged journal is logged too and counts as far as it is good.
 */
export async function readLastGood(path: string, log: FeedLog, kinds?: readonly EntryKind[]): Promise<FullCopy | null> {
  const ops: Op[] = [];
  const add = (op: Op): void => {
    if (kinds === undefined || kinds.includes(op.kind)) ops.push(op);
  };
  const files = await readFiles(
    path,
    log,
    (line) => add(JSON.parse(line.toString()) as Op),
    (more) => more.forEach(add),
  );
  return files && { rev: files.journal.rev, ops };
}

export interface LastGoodFiles {
  readonly base: BaseFile;
  readonly journal: JournalContent;
}

/** Checks the files as `readLastGood` does, without building their entries. */
export const checkLastGood = (path: string, log: FeedLog): Promise<LastGoodFiles | null> =>
  readFiles(
    path,
    log,
    () => {},
    () => {},
  );

async function readFiles(
  path: string,
  log: FeedLog,
  onLine: (line: Buffer) => void,
  onOps: (ops: readonly Op[]) => void,
): Promise<LastGoodFiles | null> {
  const base = await unlessMissing(readBaseFile(path, onLine)).catch((error: Error) => {
    log("error", "the last good copy is refused", { path, reason: error.message });
    return null;
  });
  if (base === null) return null;
  const journal = await unlessMissing(readJournal(journalPath(path), base, ({ ops }) => onOps(ops)));
  if (journal?.damaged) log("error", "the journal of the last good copy is damaged; it counts up to there", { path, rev: journal.rev });
  return { base, journal: journal ?? { rev: base.rev, ops: 0, bytes: 0, damaged: false } };
}

async function unlessMissing<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
