import { spawn } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, stepEnvironment } from "./steps.ts";

/**
 * Changes one thing of a file at a time and runs the test file beside it: a change that no test notices is a survivor.
 * On demand:
 *
 *   node tools/mutate.ts                         a sample of 40 changes over all files that have a test beside them
 *   node tools/mutate.ts --count 100 --seed 7    another sample
 *   node tools/mutate.ts src/kernel/net/ip.ts    a file
 *
 * It writes into the sources and restores them, also when it is interrupted. Prints the share of noticed changes.
 */
interface Mutation {
  readonly name: string;
  readonly pattern: RegExp;
  readonly instead: string;
}

/** Each change leaves code that compiles. */
const MUTATIONS: readonly Mutation[] = [
  { name: "=== to !==", pattern: / === /g, instead: " !== " },
  { name: "!== to ===", pattern: / !== /g, instead: " === " },
  { name: "< to <=", pattern: / < (?=[\w(])/g, instead: " <= " },
  { name: "<= to <", pattern: / <= /g, instead: " < " },
  { name: "> to >=", pattern: / > (?=[\w(])/g, instead: " >= " },
  { name: ">= to >", pattern: / >= /g, instead: " > " },
  { name: "&& to ||", pattern: / && /g, instead: " || " },
  { name: "|| to &&", pattern: / \|\| /g, instead: " && " },
  { name: "+ to -", pattern: / \+ (?=[\w(])/g, instead: " - " },
  { name: "true to false", pattern: /\btrue\b(?!\s*[;|]?\s*$)/g, instead: "false" },
  { name: "false to true", pattern: /\bfalse\b(?!\s*[;|]?\s*$)/g, instead: "true" },
  { name: "return dropped", pattern: /\) return;/g, instead: ") void 0;" },
  { name: "condition negated", pattern: /\bif \(!/g, instead: "if (" },
];

const TEST_LIMIT_MS = 120_000;

interface Change {
  readonly file: string;
  readonly at: number;
  readonly mutation: Mutation;
  readonly length: number;
}

/** Not in comments, types, imports and texts, because a change there does not change the program's behaviour. */
function changesOf(file: string): readonly Change[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  const found: Change[] = [];
  let start = 0;
  let inComment = false;
  for (const line of text.split("\n")) {
    const code = line.trim();
    inComment ||= code.startsWith("/*");
    const isCode = !inComment && !/^(?:\/\/|import |export type |type |interface |readonly |export interface )/.test(code);
    if (isCode)
      for (const mutation of MUTATIONS)
        for (const match of line.matchAll(mutation.pattern))
          if (!isWithinText(line, match.index)) found.push({ file, at: start + match.index, mutation, length: match[0].length });
    if (inComment && code.endsWith("*/")) inComment = false;
    start += line.length + 1;
  }
  return found;
}

/** A text or a pattern starts before the position and ends after it. */
function isWithinText(line: string, at: number): boolean {
  const before = line.slice(0, at);
  const quotes = (before.match(/(?<!\\)["`]/g) ?? []).length;
  return quotes % 2 === 1 || before.includes("// ");
}

function passes(file: string): Promise<boolean> {
  const test = file.replace(/\.ts$/, ".test.ts");
  const child = spawn("node", ["--test", "--test-isolation=none", "--test-timeout=60000", test], {
    cwd: ROOT,
    env: stepEnvironment(),
    stdio: "ignore",
    timeout: TEST_LIMIT_MS,
    killSignal: "SIGKILL",
  });
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}

/** Runs the test with the change applied. */
async function isNoticed({ file, at, mutation, length }: Change): Promise<boolean> {
  const path = join(ROOT, file);
  const text = readFileSync(path, "utf8");
  const restore = (): void => writeFileSync(path, text);
  const stop = (): void => {
    restore();
    process.exit(130);
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    writeFileSync(path, text.slice(0, at) + mutation.instead + text.slice(at + length));
    return !(await passes(file));
  } finally {
    restore();
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

/** Of a number and a seed the same sample each time. */
function sampleOf<T>(items: readonly T[], count: number, seed: number): readonly T[] {
  let state = seed >>> 0;
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const left = [...items];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random(left.length), 1)[0] as T);
}

function numberAfter(flag: string, fallback: number): number {
  const at = process.argv.indexOf(flag);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
}

const named = process.argv.slice(2).filter((argument) => argument.endsWith(".ts"));
const files = (named.length > 0 ? named : globSync("src/**/*.ts", { cwd: ROOT })).filter(
  (file) => !file.endsWith(".test.ts") && existsSync(join(ROOT, file.replace(/\.ts$/, ".test.ts"))),
);
const sample = sampleOf(files.toSorted().flatMap(changesOf), numberAfter("--count", 40), numberAfter("--seed", 1));
/** A test that fails without a mutation cannot detect one. */
const good = new Map<string, boolean>();
let noticed = 0;
let tried = 0;
for (const change of sample) {
  if (!good.has(change.file)) good.set(change.file, await passes(change.file));
  if (good.get(change.file) !== true) {
    console.log(`left out  ${change.file}: its test fails without a change`);
    continue;
  }
  tried++;
  const line = readFileSync(join(ROOT, change.file), "utf8").slice(0, change.at).split("\n").length;
  const isKnown = await isNoticed(change);
  if (isKnown) noticed++;
  console.log(`${isKnown ? "noticed " : "survived"}  ${change.file}:${line}  ${change.mutation.name}`);
}
console.log(
  `${noticed} of ${tried} changes were noticed (${tried === 0 ? 0 : Math.round((noticed / tried) * 100)} %), ${files.length} files with a test beside them`,
);
