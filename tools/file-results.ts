import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { ROOT } from "./steps.ts";

/** Directory where runs store their results, one file each. */
const FOLDER = join(ROOT, "node_modules/.cache/test-results");

/**
 * A reporter for node:test that writes `MILLISECONDS CPU-MILLISECONDS PATH` for each test of a file, and `failed PATH` for
 * each failure. CPU is that of this process, so it is meaningful only if the tests run in it (--test-isolation=none).
 * One reporter writes both, because with a third one the runner has so many listeners that Node.js warns of a leak.
 */
// The runner wants it so.
// oxlint-disable-next-line no-default-export
export default async function* fileResults(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let before = process.cpuUsage();
  for await (const { type, data } of events) {
    if (type === "test:fail") yield `failed ${data.file ?? data.name}\n`;
    // A file that has a process is a test as well, which contains the others.
    if (type !== "test:complete" || data.nesting !== 0 || data.file === undefined || data.file === resolve(ROOT, data.name)) continue;
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    yield `${Math.round(data.details.duration_ms)} ${Math.round((user + system) / 1000)} ${relative(ROOT, data.file)}\n`;
  }
}

/** The file for the results of the run with this name. */
export function resultsOf(name: string): string {
  mkdirSync(FOLDER, { recursive: true });
  return join(FOLDER, name.replaceAll(/\W+/g, "-"));
}

export function resultFlags(name: string): readonly string[] {
  return [`--test-reporter=${new URL(import.meta.url).href}`, `--test-reporter-destination=${resultsOf(name)}`];
}

/** Each file of the run in which a test failed. */
export function filesThatFailed(name: string): readonly string[] {
  const file = resultsOf(name);
  return existsSync(file) ? [...new Set(Array.from(readFileSync(file, "utf8").matchAll(/^failed (.+)$/gm), ([, path = ""]) => path))] : [];
}

/** To be called before a run, and before its flags are made. */
export const forgetResults = (): void => rmSync(FOLDER, { recursive: true, force: true });

/** Prints the files that took longest, longest first. */
export function printSlowest(count: number): void {
  const files = new Map<string, { ms: number; cpuMs: number }>();
  for (const name of existsSync(FOLDER) ? readdirSync(FOLDER) : [])
    for (const [, ms, cpuMs, file = ""] of readFileSync(join(FOLDER, name), "utf8").matchAll(/^(\d+) (\d+) (.+)$/gm)) {
      const sum = files.get(file) ?? { ms: 0, cpuMs: 0 };
      files.set(file, { ms: sum.ms + Number(ms), cpuMs: sum.cpuMs + Number(cpuMs) });
    }
  const slowest = [...files].toSorted(([, a], [, b]) => b.ms - a.ms).slice(0, count);
  if (slowest.length === 0) return;
  console.log("\nslowest test files (seconds; CPU of unit tests)");
  for (const [file, { ms, cpuMs }] of slowest)
    console.log(
      `${(ms / 1000).toFixed(1).padStart(7)} ${file.startsWith("test/") ? "      " : (cpuMs / 1000).toFixed(1).padStart(6)}  ${file}`,
    );
}
