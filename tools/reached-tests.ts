import { posix } from "node:path";
import { distancesTo, type ImportGraph } from "./import-graph.ts";

/** A change of one of these may change the behaviour of every module. */
const BEHIND_ALL: ReadonlySet<string> = new Set(["package-lock.json"]);

/** A test that searches for files all over the repository depends on more than the paths in its text. */
const READS_FOLDERS = /\b(?:readdir|glob)(?:Sync)?\(|"ls-files"/;
const READS_ALL = /\bROOT\b/;

export interface TestFile {
  readonly path: string;
  readonly text: string;
}

/**
 * The paths of the tests that changed files reach, nearest first: by imports, by started threads and by files or
 * folders that are read. A file that is not a module also stands for the modules of its folder. Any change reaches the
 * tests that read all folders.
 */
export function reachedTests(changed: readonly string[], tests: readonly TestFile[], graph: ImportGraph): readonly string[] {
  if (changed.length === 0) return [];
  const reachesAll = changed.some((file) => BEHIND_ALL.has(file));
  const changes = changed.flatMap((file) => [file, ...foldersAbove(file), ...moduleNeighbours(file, graph)]);
  const distances = distancesTo(changes, graph);
  const distanceOf = ({ path, text }: TestFile): number | undefined =>
    READS_FOLDERS.test(text) && READS_ALL.test(text) ? 1 : (distances.get(path) ?? (reachesAll ? graph.size : undefined));
  const reached = tests.map((test) => ({ path: test.path, distance: distanceOf(test) })).filter(({ distance }) => distance !== undefined);
  return reached.toSorted((a, b) => (a.distance ?? 0) - (b.distance ?? 0)).map(({ path }) => path);
}

const foldersAbove = (file: string): readonly string[] => Array.from(file.matchAll(/\//g), ({ index }) => file.slice(0, index));

/** The modules beside a file that is not a module. */
function moduleNeighbours(file: string, graph: ImportGraph): readonly string[] {
  if (graph.has(file)) return [];
  const folder = posix.dirname(file);
  return Array.from(graph.keys()).filter((module) => posix.dirname(module) === folder);
}
