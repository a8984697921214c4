/** Something of a data directory that a backup holds. */
export interface BackupPart {
  /** Path in the data directory, and in the archive. */
  readonly path: string;
  /** A database is copied as it is at one moment; of a directory, each file up to its present size. */
  readonly kind: "database" | "file" | "directory";
  /** Whether a server cannot start again without it, where the database is in this directory. */
  readonly isNeeded: boolean;
}

/**
 * In the order in which they are copied: the databases first, so that the logs that the events database counts on are all there. Left
 * out are caches, the last good copy, and what belongs to one machine (its node identifier, locks and the file of the running server).
 */
export const BACKUP_PARTS: readonly BackupPart[] = [
  { path: "control.db", kind: "database", isNeeded: true },
  { path: "events.db", kind: "database", isNeeded: false },
  { path: "seal.key", kind: "file", isNeeded: true },
  { path: "gateway/spend.journal", kind: "file", isNeeded: false },
  { path: "gateway-logs", kind: "directory", isNeeded: false },
  { path: "crs", kind: "directory", isNeeded: false },
];

/** At the beginning and at the end of each archive. */
export const MANIFEST = "backup.json";
/** As sha256sum writes and checks them. */
export const CHECKSUMS = "checksums.sha256";

/** Whether a file of an archive is one of ours: what else there may be is not written anywhere. */
export const isPartPath = (path: string): boolean =>
  PLAIN.test(path) &&
  !path.split("/").some((name) => name === "." || name === "..") &&
  BACKUP_PARTS.some((part) => (part.kind === "directory" ? path.startsWith(`${part.path}/`) : path === part.path));

const PLAIN = /^[\w.@+-]+(?:\/[\w.@+-]+){0,5}$/;

export interface Manifest {
  /** Of the archive. */
  readonly format: 1;
  /** Of the program that made it. */
  readonly version: string;
  readonly created_on: string;
  /** Where the control database is if not in the archive; no secrets. */
  readonly database: "included" | "elsewhere";
}
