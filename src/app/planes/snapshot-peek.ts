import { closeSync, openSync, readSync } from "node:fs";
import { journalPath } from "#snapshot/last-good/last-good.ts";

/** A full copy begins with its zones (control/rebuild.ts); a file that is longer is taken to have everything. */
const LOOK_BYTES = 65_536;

/**
 * Whether the last good copy may contain entries of the kind, before the code that can read it is loaded. A wrong guess
 * only costs time or memory: missing threads are started later, and unneeded ones are ended.
 */
export const snapshotMayHave = (kind: "zone" | "gateway", lastGoodPath: string): boolean =>
  [lastGoodPath, journalPath(lastGoodPath)].some((path) => mayName(path, `"kind":"${kind}"`));

function mayName(path: string, entry: string): boolean {
  const bytes = Buffer.allocUnsafe(LOOK_BYTES);
  try {
    const file = openSync(path, "r");
    try {
      const length = readSync(file, bytes, 0, LOOK_BYTES, 0);
      return length === LOOK_BYTES || bytes.subarray(0, length).includes(entry);
    } finally {
      closeSync(file);
    }
  } catch {
    // Before the first start it does not exist.
    return false;
  }
}
