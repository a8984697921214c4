import { closeSync, readSync } from "node:fs";
import { stat } from "node:fs/promises";
import { openRegularFile } from "#kernel/process/regular-file.ts";
import { openGeoipDatabase, type GeoipDatabases } from "#edge/geoip.ts";
import type { Log } from "#app/log/log.ts";

/** The operator's GeoIP databases, read again when a file changes. */
export interface GeoipFiles {
  /** The readable ones, in the order of the configuration. */
  databases(): GeoipDatabases;
  stop(): void;
}

export interface GeoipFilesDeps {
  readonly paths: readonly string[];
  readonly log: Pick<Log, "warn" | "info">;
  /** Called with all of them when one has changed. */
  onChanged(databases: GeoipDatabases): void;
  /** Time between two checks of the files. */
  readonly intervalMs?: number;
}

const INTERVAL_MS = 10_000;
// Larger than any such database.
const FILE_BYTES_MAX = 2 ** 31 - 1;

interface Watched {
  readonly path: string;
  /** Identifies one version of the file; empty if it is missing. */
  stamp: string;
  bytes: SharedArrayBuffer | null;
}

/**
 * Checks the files periodically: download programs replace the old file, which a watch of the old one would not notice. A
 * missing or unreadable file is reported once, and its earlier content stays in use.
 */
export function createGeoipFiles({ paths, log, onChanged, intervalMs = INTERVAL_MS }: GeoipFilesDeps): GeoipFiles {
  const files: readonly Watched[] = paths.map((path) => ({ path, stamp: "unread", bytes: null }));
  const databases = (): GeoipDatabases => files.flatMap(({ bytes }) => bytes ?? []);

  const read = (file: Watched): boolean => {
    try {
      const { bytes, stamp } = readShared(file.path);
      file.stamp = stamp;
      openGeoipDatabase(Buffer.from(bytes));
      file.bytes = bytes;
      return true;
    } catch (error) {
      const use = file.bytes === null ? "its addresses have no location" : "the previous version stays in use";
      log.warn({ path: file.path, err: error }, `cannot read a GeoIP database; ${use}`);
      return false;
    }
  };

  const look = async (): Promise<void> => {
    let hasChanged = false;
    for (const file of files) {
      const stamp = await stampOf(file.path);
      if (stamp === file.stamp) continue;
      file.stamp = stamp;
      if (!read(file)) continue;
      hasChanged = true;
      log.info({ path: file.path }, "reloaded a GeoIP database");
    }
    if (hasChanged) onChanged(databases());
  };

  for (const file of files) {
    if (!read(file) && file.stamp === "unread") file.stamp = "";
  }
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => (isLooking = false));
  }, intervalMs);
  timer.unref();
  if (paths.length === 0) clearInterval(timer);
  return { databases, stop: () => clearInterval(timer) };
}

interface Stats {
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
}

const stampFrom = ({ dev, ino, size, mtimeMs }: Stats): string => `${dev} ${ino} ${size} ${mtimeMs}`;
const stampOf = (path: string): Promise<string> => stat(path).then(stampFrom, () => "");

/** The current file, even if it is replaced meanwhile. */
function readShared(path: string): { readonly bytes: SharedArrayBuffer; readonly stamp: string } {
  const { fd, status: stats } = openRegularFile(path);
  try {
    if (stats.size === 0 || stats.size > FILE_BYTES_MAX) throw new Error("its size is not supported");
    const bytes = new SharedArrayBuffer(stats.size);
    const view = new Uint8Array(bytes);
    for (let at = 0; at < stats.size;) {
      const count = readSync(fd, view, at, stats.size - at, at);
      if (count === 0) throw new Error("it shrank while it was read");
      at += count;
    }
    return { bytes, stamp: stampFrom(stats) };
  } finally {
    closeSync(fd);
  }
}
