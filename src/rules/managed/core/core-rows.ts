import type { Program, Rule, Step } from "#rules/seclang/program/program.ts";
import type { Macro } from "#rules/seclang/syntax/macro.ts";

/** A rule of the Core Rule Set that adds to the score of a request, or of a response. */
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

type Side = "request" | "response";

/** The phases of a side, and the variable that its rules add to, by level of paranoia: CRS 3 and CRS 4. */
const SIDES: Readonly<Record<Side, { readonly phases: readonly number[]; readonly score: RegExp }>> = {
  request: { phases: [1, 2], score: /^(?:inbound_)?anomaly_score_pl([1-4])$/ },
  response: { phases: [3, 4], score: /^outbound_anomaly_score_pl([1-4])$/ },
};

/** The rules of a program that add to the score of a side, in their order. */
export const coreRows = ({ phases }: Program, side: Side): readonly CoreRow[] =>
  SIDES[side].phases.flatMap((phase) => phases[phase]!.flatMap((step) => (step.kind === "rule" ? (rowOf(step.rule, side) ?? []) : [])));

/** The program without its rules for responses and logs. */
export const requestProgram = (program: Program): Program => ({
  ...program,
  phases: program.phases.map((steps, phase) => (SIDES.request.phases.includes(phase) ? steps : [])),
});

/**
 * The program without its rules that search requests for attacks. Rules that set variables and exceptions remain,
 * because the rules for responses need them.
 */
export const responseProgram = (program: Program): Program => ({
  ...program,
  phases: program.phases.map((steps, phase) => (SIDES.request.phases.includes(phase) ? withoutRows(steps) : phase === 5 ? [] : steps)),
});

/** All steps if a rule skips others by their number. */
function withoutRows(steps: readonly Step[]): readonly Step[] {
  const isCounted = steps.some((step) => step.kind === "rule" && step.rule.skip > 0);
  return isCounted ? steps : steps.filter((step) => step.kind !== "rule" || rowOf(step.rule, "request") === undefined);
}

function rowOf(rule: Rule, side: Side): CoreRow | undefined {
  const levelOf = (name: Macro): number => (typeof name === "string" ? Number(SIDES[side].score.exec(name.toLowerCase())?.[1] ?? 0) : 0);
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

// crs-setup.conf: critical 5, error 4, warning 3, notice 2; an operator's own numbers count when a request is judged.
const SEVERITY_SCORES: Readonly<Record<number, number>> = { 2: 5, 3: 4, 4: 3, 5: 2 };

/** The text of a message, with the names of variables in it. */
export const textOf = (macro: Macro): string =>
  typeof macro === "string" ? macro : macro.map((part) => (typeof part === "string" ? part : `%{${part.collection}}`)).join("");
