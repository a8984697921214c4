import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Pattern } from "./pattern-of.ts";

/** A pattern that is not proven, and of how many bytes its text is at most. */
export interface MarkedPattern extends Pattern {
  readonly bytes: number;
}

/** Length of a text without its own limit. */
export const PUMPED_BYTES = 128 * 1024;

/** Which patterns were tried, by a hash of source, flags and bytes; written by tools/pump-patterns.ts. */
export const PUMPED_FILE = new URL("pumped.json", import.meta.url);

let pumped: ReadonlySet<string> | undefined;

export function isPumped(pattern: MarkedPattern): boolean {
  if (process.env["SELVEDGE_PUMP"] === "all") return false;
  pumped ??= new Set(JSON.parse(readFileSync(PUMPED_FILE, "utf8")) as string[]);
  return pumped.has(pumpedKey(pattern));
}

export const pumpedKey = ({ source, flags, bytes }: MarkedPattern): string =>
  createHash("sha256")
    .update(JSON.stringify([source, flags, bytes]))
    .digest("hex")
    .slice(0, 24);
