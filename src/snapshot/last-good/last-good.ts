import { type BaseFile, readBaseFile } from "./base-file.ts";
import type { EntryKind, Op } from "#snapshot/entries.ts";
import type { FeedLog, Position } from "#snapshot/feed.ts";
import { type JournalContent, readJournal } from "./journal.ts";

/** The journal of the base file at `path`. */
export const journalPath = (path: string): string => `${path}.journal`;

/**
 * The last good copy: a plane serves it when it starts and control is unavailable. A base file and the journal of later
 * changes, of all kinds or of some. Returns its position; null if it does not exist, or if the base file is refused,
 * which is logged as an error: then ops passed to `onOp` are not valid. A damaged journal is logged too and counts as far
 * as it is valid.
 */
export async function readLastGood(
  path: string,
  log: FeedLog,
  onOp: (op: Op) => void,
  kinds?: readonly EntryKind[],
): Promise<Position | null> {
  const wanted: ReadonlySet<string> | undefined = kinds && new Set(kinds);
  const intern = createInterner();
  const files = await readFiles(
    path,
    log,
    (line) => {
      if (wanted === undefined || wanted.has(kindOf(line))) onOp(intern(JSON.parse(line.toString()) as Op));
    },
    (more) => {
      for (const op of more) if (wanted === undefined || wanted.has(op.kind)) onOp(op);
    },
  );
  return files && lastGoodPosition(files);
}

const KIND_START = '{"kind":"'.length;
const QUOTE = 0x22;

/** Kind of an op that writeBaseFile wrote, without parsing the rest: planes skip most entries that others need. */
const kindOf = (line: Buffer): string => line.toString("latin1", KIND_START, line.indexOf(QUOTE, KIND_START));

/** Each record names its zone: a million records then share one text per zone instead of having a million texts. */
function createInterner(): (op: Op) => Op {
  const texts = new Map<string, string>();
  return (op) => {
    if (op.kind !== "record" || op.value === null) return op;
    const { zone_id } = op.value;
    const known = texts.get(zone_id);
    if (known === undefined) texts.set(zone_id, zone_id);
    else (op.value as { zone_id: string }).zone_id = known;
    return op;
  };
}

export interface LastGoodFiles {
  readonly base: BaseFile;
  readonly journal: JournalContent;
}

export const lastGoodPosition = ({ base, journal }: LastGoodFiles): Position => ({ history: base.history, rev: journal.rev });

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
    log("error", "the last good copy is invalid", { path, reason: error.message });
    return null;
  });
  if (base === null) return null;
  const journal = await unlessMissing(readJournal(journalPath(path), base, ({ ops }) => onOps(ops)));
  if (journal?.damaged)
    log("error", "the journal of the last good copy is corrupt; using it up to the damaged entry", { path, rev: journal.rev });
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
