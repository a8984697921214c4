import { closeSync, fchownSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { LEVELS } from "#app/config/config-formats.ts";
import { isLogPart, type LogPart } from "#app/config/log-areas.ts";

/** A request of `selvedge log level`. Only a user who may write in the data directory can make one (docs/adr/0316). */
export interface LevelRequest {
  readonly id: string;
  /** Null: the configured level returns. Empty if only the present levels are wanted. */
  readonly changes: readonly { readonly area: LogPart; readonly level: string | null }[];
  /** After this time the configured levels return; null: at the end of the process. */
  readonly for_ms: number | null;
}

export interface LevelOutcome {
  /** Of the request. */
  readonly id: string;
  readonly levels: readonly ShownLevel[];
}

export interface ShownLevel {
  readonly area: LogPart;
  /** In force. */
  readonly level: string;
  readonly configured: string;
  /** When the configured level returns: a time, or at the next restart; null while it is in force. */
  readonly until: string | null;
}

export const FOR_MS_MAX = 7 * 86_400_000;
const TEXT_LENGTH_MAX = 10_000;

const path = (dataDir: string): string => join(dataDir, "log-level.request");

/** Replaces the request of a command that was not answered. */
export function writeLevelRequest(dataDir: string, request: LevelRequest): void {
  const aside = `${path(dataDir)}.${request.id}`;
  // A link that stands there already is not followed.
  const fd = openSync(aside, "wx", 0o600);
  try {
    const { uid, gid } = statSync(dataDir);
    // The server could not read a file of root.
    if (process.geteuid?.() === 0) fchownSync(fd, uid, gid);
    writeSync(fd, JSON.stringify(request));
  } finally {
    closeSync(fd);
  }
  renameSync(aside, path(dataDir));
}

export const removeLevelRequest = (dataDir: string): void => rmSync(path(dataDir), { force: true });

/** The request, which then is gone; null if nobody has asked. Throws if it cannot be read or understood. */
export function takeLevelRequest(dataDir: string): LevelRequest | null {
  let text: string;
  try {
    text = readFileSync(path(dataDir), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  removeLevelRequest(dataDir);
  const request = text.length > TEXT_LENGTH_MAX ? null : (JSON.parse(text) as unknown);
  if (!isLevelRequest(request)) throw new Error("the request of selvedge log level is of another release, or damaged");
  return request;
}

function isLevelRequest(value: unknown): value is LevelRequest {
  if (typeof value !== "object" || value === null) return false;
  const { id, changes, for_ms } = value as Partial<Record<keyof LevelRequest, unknown>>;
  const isTime = for_ms === null || (Number.isInteger(for_ms) && Number(for_ms) > 0 && Number(for_ms) <= FOR_MS_MAX);
  return typeof id === "string" && isTime && Array.isArray(changes) && changes.every(isChange);
}

function isChange(value: unknown): boolean {
  const { area, level } = (value ?? {}) as { readonly area?: unknown; readonly level?: unknown };
  return typeof area === "string" && isLogPart(area) && (level === null || LEVELS.some((known) => known === level));
}
