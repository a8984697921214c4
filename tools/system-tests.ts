import { globSync } from "node:fs";
import { ROOT, type Step } from "./steps.ts";
import { batchesOf } from "./unit-tests.ts";

/** Folders whose tests start no process: most of their files use more CPU time to import the planes than for their tests. */
const SHARED_FOLDERS = ["test/bench", "test/property"];
const TEST_TIMEOUT_MS = 600_000;

/** The longest files, longest first (`npm test` prints the slowest): they start first, so that no core is idle at the end. */
const LONGEST: readonly string[] = [
  ...[
    "e2e/dashboard-sweep",
    "e2e/dashboard-lively",
    "spec/routes",
    "e2e/debian-package",
    "e2e/dashboard",
    "e2e/dashboard-states",
    "e2e/fleet-rollout",
  ],
  ...["e2e/dashboard-tunnels", "spec/rehearsals", "faults/fleet-chaos", "spec/tenant-references", "e2e/planted-values"],
  ...["e2e/alerts-of-nodes", "guides/guides", "e2e/dashboard-nodes", "faults/killed-transfers", "e2e/dashboard-operations"],
  ...["e2e/fleet-addresses", "faults/late-database"],
].map((name) => `test/${name}.test.ts`);

interface SystemTests {
  readonly shared: readonly string[];
  /** One process for each file, in the order of their start. */
  readonly alone: readonly string[];
}

/** All files under test/, by paths from the root, and whether they share a process. */
export function systemTests(): SystemTests {
  const shared = SHARED_FOLDERS.flatMap((folder) => globSync(`${folder}/*.test.ts`, { cwd: ROOT })).sort();
  const sharing = new Set(shared);
  const all = globSync("test/**/*.test.ts", { cwd: ROOT }).sort();
  const longest = new Set(LONGEST);
  return { shared, alone: [...LONGEST, ...all.filter((file) => !sharing.has(file) && !longest.has(file))] };
}

export const sharedSystemSteps = (): readonly Step[] => batchesOf("system tests", systemTests().shared, TEST_TIMEOUT_MS);
