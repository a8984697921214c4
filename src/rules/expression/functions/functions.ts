import type { PhaseName } from "#rules/phases.ts";
import { ENCODING_FUNCTIONS } from "./encoding-functions.ts";
import type { RegexTable } from "#rules/expression/regex/regex-table.ts";
import { REPLACEMENT_FUNCTIONS } from "./replacement-functions.ts";
import { STRING_FUNCTIONS } from "./string-functions.ts";
import type { Value, ValueType } from "#rules/expression/values/value-type.ts";

/** Given literals are constants; missing values do not reach it unless the function takes them. Never throws. */
export type FunctionBody = (...values: readonly (Value | undefined)[]) => Value | undefined;

/** `array` is an array of anything. */
export type Kind = "string" | "integer" | "boolean" | "ip" | "strings" | "booleans" | "array";

export interface Parameter {
  readonly name: string;
  readonly takes: readonly Kind[];
  /** `literal`: known when the rule is saved. `field`: anything but a literal. */
  readonly only?: "literal" | "field";
  readonly optional?: true;
  /** The only fields that may stand here. */
  readonly fields?: readonly string[];
}

export type Availability = "everywhere" | "nowhere" | readonly PhaseName[];

export interface LanguageFunction {
  readonly name: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  /** Any number more. */
  readonly rest?: Parameter;
  readonly returns: ValueType | ((types: readonly ValueType[]) => ValueType);
  /** Where filters may call it, and where expressions that give a value may. */
  readonly filters: Availability;
  readonly values: Availability;
  /** Of those with this name at most one call stands in an expression. */
  readonly once?: string;
  /** What a byte of its texts, and a part of an array's item, costs; 0 where it looks at a few bytes alone, or charges by itself. */
  readonly stepsPerByte: number;
  /** Missing values are given to the body instead of making its result missing. */
  readonly takesMissing?: true;
  /** The body for these literals; undefined stands for arguments that are none. It gives values of the type `gives`. */
  make(literals: readonly (Value | undefined)[], problem: Problem, gives: ValueType, regexes: Pick<RegexTable, "replacer">): FunctionBody;
}

/** Refuses the argument of that number. */
export type Problem = (argument: number, message: string) => never;

/** In the order of their names. */
export const FUNCTIONS: readonly LanguageFunction[] = [...STRING_FUNCTIONS, ...ENCODING_FUNCTIONS, ...REPLACEMENT_FUNCTIONS].toSorted(
  (a, b) => (a.name < b.name ? -1 : 1),
);

const BY_NAME: ReadonlyMap<string, LanguageFunction> = new Map(FUNCTIONS.map((row) => [row.name, row]));

export const functionNamed = (name: string): LanguageFunction | undefined => BY_NAME.get(name);

/** `any(Array<Boolean>)` as the reference and editors show it. */
export function signatureOf(called: LanguageFunction): string {
  const shown = (parameter: Parameter): string => {
    const text = `${parameter.name}: ${parameter.takes.map((kind) => KINDS[kind]).join(" | ")}`;
    return parameter.optional === true ? `[${text}]` : text;
  };
  const rest = called.rest === undefined ? [] : [`…${shown(called.rest)}`];
  return `${called.name}(${[...called.parameters.map(shown), ...rest].join(", ")})`;
}

export const KINDS: Readonly<Record<Kind, string>> = {
  string: "String",
  integer: "Integer",
  boolean: "Boolean",
  ip: "IP address",
  strings: "Array<String>",
  booleans: "Array<Boolean>",
  array: "Array",
};

export function isOfKind(type: ValueType, kind: Kind): boolean {
  if (kind === "array") return type.kind === "array";
  if (kind === "strings") return type.kind === "array" && type.of.kind === "string";
  if (kind === "booleans") return type.kind === "array" && type.of.kind === "boolean";
  return type.kind === kind;
}
