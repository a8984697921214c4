import type { RuleContext } from "./rule-context.ts";
import type { PhaseName } from "#rules/phases.ts";

/** Context of parameters; some depend on it. */
export interface ParameterPlace {
  readonly phase: PhaseName;
  readonly around: RuleContext;
}

/** Problems of a value; `at` is its JSON pointer below the action's parameters. */
export type Shape = (value: unknown, at: string, place: ParameterPlace) => RuleProblem[];

type Fields = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

// RFC 6901 §3
export const escapePointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

export interface ObjectRules {
  /** All of them are required. */
  readonly required?: readonly string[];
  /** At least one of them is required. */
  readonly some?: readonly string[];
  /** Exactly one of them is required. */
  readonly one?: readonly string[];
}

/** An object with these members and no others: a misspelt parameter must not be ignored. */
export const object =
  (members: Readonly<Record<string, Shape>>, rules: ObjectRules = {}): Shape =>
  (value, at, place) => {
    if (!isObject(value)) return [problem(at, `${nameOf(at)} must be an object`)];
    const unknown = Object.keys(value).filter((key) => !Object.hasOwn(members, key));
    const known = Object.keys(members);
    const hint = known.length === 0 ? "; this action has no parameters" : `; known are ${known.join(", ")}`;
    return [
      ...unknown.map((key) => problem(`${at}/${escapePointer(key)}`, `unknown parameter "${key}"${hint}`)),
      ...presence(value, at, rules),
      ...known.flatMap((key) => (value[key] === undefined ? [] : members[key]!(value[key], `${at}/${key}`, place))),
    ];
  };

function presence(fields: Fields, at: string, { required = [], some = [], one = [] }: ObjectRules): RuleProblem[] {
  const given = (keys: readonly string[]): number => keys.filter((key) => fields[key] !== undefined).length;
  const problems = required.filter((key) => fields[key] === undefined).map((key) => problem(at, `needs ${key}`));
  if (some.length > 0 && given(some) === 0) problems.push(problem(at, `needs ${alternatives(some)}`));
  if (one.length > 0 && given(one) !== 1) problems.push(problem(at, `needs ${given(one) > 1 ? "only one of " : ""}${alternatives(one)}`));
  return problems;
}

const alternatives = (keys: readonly string[]): string =>
  keys.length < 2 ? keys.join("") : `${keys.slice(0, -1).join(", ")} or ${keys.at(-1)}`;

export interface TextRules {
  readonly pattern?: RegExp;
  /** Description of the pattern: `a host name`. */
  readonly what?: string;
  readonly bytesMax?: number;
  readonly empty?: boolean;
}

export const text =
  ({ pattern, what = "a string", bytesMax = 4096, empty = false }: TextRules = {}): Shape =>
  (value, at) => {
    if (typeof value !== "string" || (pattern !== undefined && !pattern.test(value))) return [problem(at, `${nameOf(at)} must be ${what}`)];
    if (value === "" && !empty) return [problem(at, `${nameOf(at)} must not be empty`)];
    return Buffer.byteLength(value) > bytesMax ? [problem(at, `${nameOf(at)} is longer than ${bytesMax} bytes`)] : [];
  };

export const whole =
  (min: number, max: number): Shape =>
  (value, at) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? []
      : [problem(at, `${nameOf(at)} must be a whole number from ${min} to ${max}`)];

export const flag: Shape = (value, at) => (typeof value === "boolean" ? [] : [problem(at, `${nameOf(at)} must be true or false`)]);

export const oneOf =
  (...values: readonly (string | number | boolean)[]): Shape =>
  (value, at) =>
    values.includes(value as string) ? [] : [problem(at, `${nameOf(at)} must be one of ${values.join(", ")}`)];

export const array =
  (item: Shape, { min = 1, max = 100 }: { readonly min?: number; readonly max?: number } = {}): Shape =>
  (value, at, place) => {
    if (!Array.isArray(value)) return [problem(at, `${nameOf(at)} must be an array`)];
    if (value.length > max) return [problem(at, `${nameOf(at)} has more than ${max} entries`)];
    if (value.length < min) return [problem(at, `${nameOf(at)} must have at least one entry`)];
    return value.flatMap((entry, index) => item(entry, `${at}/${index}`, place));
  };

/** An object whose member names are the customer's own. */
export const map =
  (key: TextRules, item: Shape, { max = 100 }: { readonly max?: number } = {}): Shape =>
  (value, at, place) => {
    if (!isObject(value)) return [problem(at, `${nameOf(at)} must be an object`)];
    const entries = Object.entries(value);
    if (entries.length === 0 || entries.length > max) return [problem(at, `${nameOf(at)} must have from 1 to ${max} members`)];
    return entries.flatMap(([name, entry]) => {
      const here = `${at}/${escapePointer(name)}`;
      const wrong = text(key)(name, here, place).map(({ message }) => problem(here, message));
      return wrong.length > 0 ? wrong : item(entry, here, place);
    });
  };

/** A known feature that does not exist here: refused, because ignoring it would deceive. */
export const unavailable: Shape = (_, at) => [problem(at, `this version cannot run rules with ${nameOf(at)} yet`)];

/** The first shape whose condition matches. */
export const byPlace =
  (choose: (place: ParameterPlace) => Shape): Shape =>
  (value, at, place) =>
    choose(place)(value, at, place);

export const problem = (pointer: string, message: string): RuleProblem => ({ pointer, message });

const nameOf = (at: string): string =>
  at === ""
    ? "action_parameters"
    : at
        .slice(at.lastIndexOf("/") + 1)
        .replaceAll("~1", "/")
        .replaceAll("~0", "~");

/** Something wrong in a rule, addressed by a JSON pointer below it: `/action_parameters/id`. */
export interface RuleProblem {
  readonly pointer: string;
  readonly message: string;
}
