import { CliError } from "../outcome.ts";

/** A rule as a file has it: the API's fields without those that the server makes, and without usual values. */
export interface FileRule {
  readonly ref?: string;
  readonly description?: string;
  readonly expression?: string;
  readonly action: string;
  readonly [field: string]: unknown;
}

/** The rules of a zone by phase, in their order. A phase that is absent stays as it is; an empty one has no rules. */
export interface RulesFile {
  readonly zone: string;
  readonly phases: Readonly<Record<string, readonly FileRule[]>>;
}

/** The server makes these. */
const MADE = ["id", "version", "last_updated", "categories"] as const;

/** A rule of the API in the form of a file. */
export function fileRule(rule: Readonly<Record<string, unknown>>): FileRule {
  const kept = Object.entries(rule).filter(([name, value]) => !isMade(name) && !isUsual(name, value));
  const { ref, description, expression, action, ...rest } = Object.fromEntries(kept);
  // The order in which people read a rule.
  return { ...present({ ref, description, expression, action }), ...rest } as FileRule;
}

const isMade = (name: string): boolean => (MADE as readonly string[]).includes(name);
const isUsual = (name: string, value: unknown): boolean =>
  (name === "enabled" && value === true) ||
  (name === "description" && value === "") ||
  (name === "action_parameters" && typeof value === "object" && value !== null && Object.keys(value).length === 0);
const present = (members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** Throws CliError unless the text is a file of rules. The API checks the rules themselves. */
export function readRulesFile(text: string, name: string): RulesFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CliError(`${name} is not JSON: ${(error as Error).message}`);
  }
  const { zone, phases } = membersOf(value);
  if (typeof zone !== "string" || zone === "") throw new CliError(`${name}: "zone" must be the name of the zone`);
  if (!isObject(phases)) throw new CliError(`${name}: "phases" must be an object with a list of rules for each phase`);
  for (const [phase, rules] of Object.entries(phases)) {
    if (!Array.isArray(rules)) throw new CliError(`${name}: "phases.${phase}" must be a list of rules`);
    const wrong = rules.findIndex((rule) => typeof membersOf(rule)["action"] !== "string");
    if (wrong !== -1) throw new CliError(`${name}: rule ${wrong + 1} of ${phase} must be an object with an "action"`);
  }
  const lists = phases as Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
  return { zone, phases: Object.fromEntries(Object.entries(lists).map(([phase, rules]) => [phase, rules.map(fileRule)])) };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const membersOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});
