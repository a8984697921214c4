import { globSync } from "node:fs";
import { ROOT, type Step } from "./steps.ts";
import { batchesOf } from "./unit-tests.ts";

/** Folders whose tests start no process: most of their files use more CPU time to import the planes than for their tests. */
const SHARED_FOLDERS = ["test/bench", "test/property"];
const TEST_TIMEOUT_MS = 600_000;

interface SystemTests {
  readonly shared: readonly string[];
  /** One process for each file. */
  readonly alone: readonly string[];
}

/** All files under test/, by paths from the root, and whether they share a process. */
export function systemTests(): SystemTests {
  const shared = SHARED_FOLDERS.flatMap((folder) => globSync(`${folder}/*.test.ts`, { cwd: ROOT })).sort();
  const sharing = new Set(shared);
  const all = globSync("test/**/*.test.ts", { cwd: ROOT }).sort();
  return { shared, alone: all.filter((file) => !sharing.has(file)) };
}

export const sharedSystemSteps = (): readonly Step[] => batchesOf("system tests", systemTests().shared, TEST_TIMEOUT_MS);
