import { closeSync, openSync, readSync, statSync } from "node:fs";

/** Where the header has the size of a page (https://www.sqlite.org/fileformat.html §1.3.2); 1 stands for the largest. */
const SIZE_AT = 16;
const LARGEST = 65_536;
const MAGIC = "SQLite format 3\0";

/**
 * The fault of a database file that was cut within a page, or null. SQLite reads the missing bytes as zeros, and its own checks find
 * them only if they are in the page's structure. While there is a log, it may hold the whole page.
 */
export function cutPageOf(path: string): string | null {
  const size = bytesOf(path);
  if (size < SIZE_AT + 2 || bytesOf(`${path}-wal`) > 0) return null;
  const header = Buffer.alloc(SIZE_AT + 2);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, header.length, 0);
  } finally {
    closeSync(file);
  }
  if (!header.toString("latin1").startsWith(MAGIC)) return null;
  const page = header.readUInt16BE(SIZE_AT) === 1 ? LARGEST : header.readUInt16BE(SIZE_AT);
  return page === 0 || size % page === 0 ? null : `the file ends within a page: ${size} bytes are not a multiple of ${page}`;
}

export const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
