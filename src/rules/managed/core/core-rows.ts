import type { Program, Rule } from "#rules/seclang/program/program.ts";
import type { Macro } from "#rules/seclang/syntax/macro.ts";

/** A rule of the Core Rule Set that adds to the score of a request. */
export interface CoreRow {
  /** Its number in the Core Rule Set, such as 942100. */
  readonly number: number;
  readonly title: string;
  /** From 1 to 4. */
  readonly paranoia: number;
  /** Points that each value adds that it hits. */
  readonly score: number;
  /** Its tags, the paranoia level apart. */
  readonly categories: readonly string[];
}

/** The variable that rules of requests add to, by level of paranoia: CRS 3 and CRS 4. */
export const REQUEST_SCORE = /^(?:inbound_)?anomaly_score_pl([1-4])$/;

/** The rules of a program that add to the score of requests, in their order. */
export const coreRows = ({ phases }: Program): readonly CoreRow[] =>
  [...phases[1]!, ...phases[2]!].flatMap((step) => (step.kind === "rule" ? (rowOf(step.rule) ?? []) : []));

function rowOf(rule: Rule): CoreRow | undefined {
  const added = rule.links
    .flatMap(({ assignments }) => assignments)
    .find(({ name, operation }) => operation === "add" && levelOf(name) > 0);
  if (added === undefined) return undefined;
  return {
    number: rule.id,
    title: `${rule.id}: ${textOf(rule.message)}`,
    paranoia: levelOf(added.name),
    score: SEVERITY_SCORES[rule.severity ?? 2] ?? 5,
    categories: [
      ...new Set(
        rule.tags.filter((tag) => !/^(?:paranoia-level\/|OWASP_CRS$)/.test(tag)).map((tag) => tag.replaceAll("/", "-").toLowerCase()),
      ),
    ],
  };
}

/** 0 for other variables. */
const levelOf = (name: Macro): number => (typeof name === "string" ? Number(REQUEST_SCORE.exec(name.toLowerCase())?.[1] ?? 0) : 0);

// crs-setup.conf: critical 5, error 4, warning 3, notice 2; an operator's own numbers count when a request is judged.
const SEVERITY_SCORES: Readonly<Record<number, number>> = { 2: 5, 3: 4, 4: 3, 5: 2 };

/** The text of a message, with the names of variables in it. */
export const textOf = (macro: Macro): string =>
  typeof macro === "string" ? macro : macro.map((part) => (typeof part === "string" ? part : `%{${part.collection}}`)).join("");
