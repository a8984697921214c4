import { accessSync, constants, existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type EventDatabase, openEventDatabase } from "./database.ts";
import { fileIdentity, type FileIdentity, isSameFile, removeForeignLog } from "./file-identity.ts";
import { isFull } from "./full-disk.ts";

export interface RepairDeps {
  readonly path: string;
  nowMs(): number;
  /** Names of each facet; absent: the database's default. */
  readonly namesMax?: number | undefined;
  /** A file that is damaged, or that this process may not use, was moved to `aside`. */
  damaged(aside: string, error: unknown): void;
  /** The file was removed or replaced by somebody else. */
  replaced(): void;
  /**
   * The disk is too full to open the file. Returns whether space was freed for another attempt; otherwise every call tries
   * again, and fails until the disk has space.
   */
  full(error: unknown): boolean;
}

export interface RepairedDatabase extends EventDatabase {
  /** Call before anything is written. If the file was removed or replaced, lets go of it, and returns true: the next call opens what is there. */
  follow(): boolean;
}

/**
 * The events database, recreated when its file turns out to be damaged or of no use to this process, at the start or later: it holds records of the
 * past, and must neither keep the planes from serving nor lose later records. The damaged file is kept beside it, and so
 * is the one before. A full disk does not stop serving either.
 */
export function openRepairedDatabase({ path, nowMs, namesMax, damaged, replaced, full }: RepairDeps): RepairedDatabase {
  let open: EventDatabase | null = null;
  let identity: FileIdentity | null = null;
  const opened = (): EventDatabase => {
    const database = openEventDatabase(path, nowMs, namesMax);
    identity = fileIdentity(path);
    return database;
  };
  const attempt = <T>(work: (database: EventDatabase) => T): T => work((open ??= opened()));
  const run = <T>(work: (database: EventDatabase) => T): T => {
    try {
      return attempt(work);
    } catch (error) {
      if (!isDamaged(error) && !(isRefused(error) && isForeign(path))) throw error;
      open?.close();
      open = null;
      damaged(setAside(path, nowMs()), error);
      return attempt(work);
    }
  };
  const isOpenOrFull = (): boolean => {
    try {
      run(() => undefined);
      return true;
    } catch (error) {
      if (!isFull(error)) throw error;
      return !full(error);
    }
  };
  while (!isOpenOrFull());
  return {
    insert: (tables, also) => run((database) => database.insert(tables, also)),
    take: (batch, work) => run((database) => database.take(batch, work)),
    newestSegment: () => run((database) => database.newestSegment()),
    deleteBefore: (atMs, rowsMax) => run((database) => database.deleteBefore(atMs, rowsMax)),
    deleteOldest: (rows) => run((database) => database.deleteOldest(rows)),
    deleteCountsBefore: (level, atMs, rowsMax) => run((database) => database.deleteCountsBefore(level, atMs, rowsMax)),
    deleteUnusedFacets: (rowsMax) => run((database) => database.deleteUnusedFacets(rowsMax)),
    shrink: (pages) => run((database) => database.shrink(pages)),
    usedBytes: () => run((database) => database.usedBytes()),
    freeBytes: () => run((database) => database.freeBytes()),
    checkpoint: () => run((database) => database.checkpoint()),
    logs: {
      checkpoint: () => run(({ logs }) => logs.checkpoint()),
      index: (batch) => run(({ logs }) => logs.index(batch)),
      count: (cells) => run(({ logs }) => logs.count(cells)),
      takeEmptySegments: () => run(({ logs }) => logs.takeEmptySegments()),
      deleteUsageBefore: (hourMs) => run(({ logs }) => logs.deleteUsageBefore(hourMs)),
    },
    follow: () => {
      const now = fileIdentity(path);
      // The log is there once something has been written.
      if (identity === null || identity.log === null) identity = { file: identity?.file ?? now.file, log: now.log };
      if (open === null || isSameFile(now, identity)) return false;
      open.close();
      open = null;
      removeForeignLog(identity, path);
      replaced();
      return true;
    },
    close: () => open?.close(),
  };
}

// https://www.sqlite.org/rescode.html: SQLITE_CORRUPT, SQLITE_NOTADB.
const DAMAGE_CODES: readonly number[] = [11, 26];

export const isDamaged = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && DAMAGE_CODES.includes(Number(error.errcode) & 0xff);

// SQLITE_READONLY, SQLITE_CANTOPEN.
const REFUSAL_CODES: readonly number[] = [8, 14];

const isRefused = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && REFUSAL_CODES.includes(Number(error.errcode) & 0xff);

/** Whether something has the database's name that this process cannot use: a directory, or a file of another user. */
const isForeign = (path: string): boolean =>
  PARTS.some((part) => {
    const found = statSync(path + part, { throwIfNoEntry: false });
    return found !== undefined && !(found.isFile() && mayWrite(path + part));
  });

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const PARTS = ["", "-wal", "-shm"];
/** Number of damaged files to keep: a disk that fails repeatedly must not be filled with them. */
const ASIDE_MAX = 2;

/** The log is moved too: it belongs to this file only. */
function setAside(path: string, nowMs: number): string {
  const aside = `${path}.damaged-${nowMs}`;
  for (const part of PARTS) if (existsSync(path + part)) renameSync(path + part, aside + part);
  for (const older of asidesOf(path).slice(ASIDE_MAX)) for (const part of PARTS) rmSync(older + part, { force: true, recursive: true });
  return aside;
}

/** Newest first. */
function asidesOf(path: string): readonly string[] {
  const [directory, start] = [dirname(path), `${basename(path)}.damaged-`];
  const times = readdirSync(directory).flatMap((name) => (name.startsWith(start) ? [Number(name.slice(start.length))] : []));
  return times
    .filter(Number.isSafeInteger)
    .sort((a, b) => b - a)
    .map((time) => join(directory, `${start}${time}`));
}
