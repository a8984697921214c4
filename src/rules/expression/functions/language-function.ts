import type { Value, ValueType } from "#rules/expression/values/value-type.ts";
import type { PhaseName } from "#rules/phases.ts";
import type { RegexTable } from "#rules/regex/regex-table.ts";

/** Literals are constants; a missing value makes the result missing, unless the function takes missing values. Never throws. */
export type FunctionBody = (...values: readonly (Value | undefined)[]) => Value | undefined;

/** `array` and `map` may hold any type. */
export type Kind = "string" | "integer" | "boolean" | "ip" | "strings" | "booleans" | "array" | "map";

export interface Parameter {
  readonly name: string;
  readonly takes: readonly Kind[];
  /** `literal`: known when the rule is saved. `field`: anything but a literal. */
  readonly only?: "literal" | "field";
  readonly optional?: true;
  /** The only fields that are accepted. */
  readonly fields?: readonly string[];
}

export type Availability = "everywhere" | "nowhere" | readonly PhaseName[];

export interface LanguageFunction {
  readonly name: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  /** Type of any number of further arguments. */
  readonly rest?: Parameter;
  readonly returns: ValueType | ((types: readonly ValueType[]) => ValueType);
  /** Phases whose filters, and whose value expressions, may call it. */
  readonly filters: Availability;
  readonly values: Availability;
  /** An expression may have only one call of the functions with this name. */
  readonly once?: string;
  /** Steps per byte of its texts and per item of an array; 0 if it reads only a few bytes, or charges by itself. */
  readonly stepsPerByte: number;
  /** Whether the body gets missing values, which otherwise make the result missing. */
  readonly takesMissing?: true;
  /** Refuses arguments whose types do not match each other. */
  agree?(types: readonly ValueType[], problem: Problem): void;
  /** The body for these literals; undefined for arguments that are not literals. It returns values of the type `gives`. */
  make(literals: readonly (Value | undefined)[], problem: Problem, gives: ValueType, regexes: Pick<RegexTable, "replacer">): FunctionBody;
}

/** Refuses the argument with that number. */
export type Problem = (argument: number, message: string) => never;
