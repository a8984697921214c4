import { closeSync, openSync, readSync } from "node:fs";
import { journalPath } from "#snapshot/last-good/last-good.ts";

/** A full copy begins with its zones (control/rebuild.ts); what has a longer journal has more than a gateway's tokens. */
const LOOK_BYTES = 65_536;
const ZONE = '"kind":"zone"';

/**
 * Whether the last good copy may hold zones, before anything is loaded that could read it. A mistake costs time or memory,
 * and no more: threads that are not there by then are started, and those that nobody needs are ended.
 */
export const snapshotMayHaveZones = (lastGoodPath: string): boolean => [lastGoodPath, journalPath(lastGoodPath)].some(mayName);

function mayName(path: string): boolean {
  const bytes = Buffer.allocUnsafe(LOOK_BYTES);
  try {
    const file = openSync(path, "r");
    try {
      const length = readSync(file, bytes, 0, LOOK_BYTES, 0);
      return length === LOOK_BYTES || bytes.subarray(0, length).includes(ZONE);
    } finally {
      closeSync(file);
    }
  } catch {
    // Before the first start there is none.
    return false;
  }
}
