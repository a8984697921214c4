import { analyse } from "scslre";
import { BUILT_PATTERNS } from "./built-patterns.ts";
import { constantsOf, type Pattern, patternOf } from "./pattern-of.ts";
import { isProvenLinear } from "./proven-linear.ts";
import { isPumped, PUMPED_BYTES } from "./pumped.ts";
import { isTestFile, type Node, type Rule } from "./rule.ts";

/**
 * No pattern takes time that grows faster than its text: patterns known to do so are refused, and every other one is
 * proven linear, or has `// linear: pumped` or `// linear: at most 255 bytes (a DNS name)` in the line above or after
 * it, and was tried with repeated pieces of that many bytes (tools/pump-patterns.ts).
 */
export const linear: Rule = {
  create(context) {
    if (!inScope(context.filename)) return {};
    let constants: ReturnType<typeof constantsOf> = new Map();
    const check = (node: Node): void => {
      const pattern = patternOf(node, constants);
      if (pattern === undefined) return;
      const problem =
        pattern === "dynamic"
          ? builtProblem(context.filename)
          : problemOf(pattern, () => markOf(context.sourceCode.text, node["start"] as number));
      if (problem !== undefined) context.report({ node, message: problem });
    };
    return {
      Program: (node: Node) => void (constants = constantsOf(node)),
      Literal: check,
      NewExpression: check,
      CallExpression: check,
    };
  },
};

/** Tests and their helpers may be slow. */
const inScope = (filename: string): boolean =>
  /\/src\//.test(filename) && !isTestFile(filename) && !/\.cases\.ts$|\/test-[^/]*\.ts$/.test(filename);

const builtProblem = (filename: string): string | undefined =>
  BUILT_PATTERNS.some(({ file }) => filename.endsWith(`/${file}`))
    ? undefined
    : "a pattern that is built must be proven linear: write it as a constant, or list the file in tools/lint/built-patterns.ts";

export const NOT_PUMPED = "not pumped yet: run node tools/pump-patterns.ts ";

/** The fault of the pattern, or undefined. `mark`: the maximum length of its text in bytes; undefined if it is not marked. */
export function problemOf(pattern: Pattern, mark: () => number | undefined): string | undefined {
  if (isSuperLinear(pattern))
    return "the time of this pattern grows faster than its text: write a scanner, or a pattern that begins no run twice";
  if (isProvenLinear(pattern.source, pattern.flags)) return undefined;
  const bytes = mark();
  if (bytes === undefined)
    return "not proven to be linear: write a scanner or a plainer pattern, or mark it // linear: pumped or // linear: at most N bytes (why)";
  return isPumped({ ...pattern, bytes }) ? undefined : NOT_PUMPED + JSON.stringify({ ...pattern, bytes });
}

/** Patterns that scslre finds are super-linear, but it does not find all of them. */
function isSuperLinear({ source, flags }: Pattern): boolean {
  // A sticky pattern is tried at one position.
  const tried = flags.includes("y") ? `^(?:${source})` : source;
  return analyse({ source: tried, flags: flags.replace(/[ymd]/g, "") }).reports.length > 0;
}

const MARK = /\/\/ linear: (?:(pumped)|at most ([\d,]{1,9}) bytes \([^()]+\))$/;

function markOf(text: string, at: number): number | undefined {
  const from = text.lastIndexOf("\n", at) + 1;
  const above = text.slice(text.lastIndexOf("\n", from - 2) + 1, from).trim();
  const here = text.slice(from, text.indexOf("\n", at)).trim();
  const [, pumped, bytes] = MARK.exec(above) ?? MARK.exec(here) ?? [];
  if (pumped !== undefined) return PUMPED_BYTES;
  return bytes === undefined ? undefined : Number(bytes.replaceAll(",", ""));
}
