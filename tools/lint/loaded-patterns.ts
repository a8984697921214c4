import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { MarkedPattern } from "./pumped.ts";

/** A pattern that a module has built while it was loaded. */
export interface LoadedPattern {
  readonly file: string;
  readonly pattern: MarkedPattern;
  readonly isProven: boolean;
}

/** The patterns that the listed files build when they are loaded, in a new thread in which none of them is loaded yet. */
export async function loadedPatterns(): Promise<readonly LoadedPattern[]> {
  const [found] = (await once(new Worker(new URL("loaded-patterns-worker.ts", import.meta.url)), "message")) as [readonly LoadedPattern[]];
  return found;
}
