/** A part of a data directory in a backup. */
export interface BackupPart {
  /** Path in the data directory, and in the archive. */
  readonly path: string;
  /** A database is copied as of one moment; in a directory, each file is copied up to its current size. */
  readonly kind: "database" | "file" | "directory";
  /** Whether a server cannot start again without it, if the database is in this directory. */
  readonly isNeeded: boolean;
}

/**
 * In the order of copying: the databases first, so that all logs that the events database refers to are included.
 * Excluded are caches, the last good copy, and files of one machine (its node identifier, locks and the file of the
 * running server).
 */
export const BACKUP_PARTS: readonly BackupPart[] = [
  { path: "control.db", kind: "database", isNeeded: true },
  { path: "events.db", kind: "database", isNeeded: false },
  { path: "seal.key", kind: "file", isNeeded: true },
  { path: "gateway/spend.journal", kind: "file", isNeeded: false },
  { path: "gateway-logs", kind: "directory", isNeeded: false },
  { path: "images", kind: "directory", isNeeded: false },
  { path: "crs", kind: "directory", isNeeded: false },
];

/** At the beginning and at the end of each archive. */
export const MANIFEST = "backup.json";
/** As sha256sum writes and checks them. */
export const CHECKSUMS = "checksums.sha256";

/** Whether a file of an archive is one of ours; other files are not written anywhere. */
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
  /** Location of the control database if it is not in the archive; without secrets. */
  readonly database: "included" | "elsewhere";
}
