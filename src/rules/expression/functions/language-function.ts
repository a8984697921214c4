import type { Value, ValueType } from "#rules/expression/values/value-type.ts";
import type { PhaseName } from "#rules/phases.ts";
import type { RegexTable } from "#rules/regex/regex-table.ts";

/** Given literals are constants; missing values do not reach it unless the function takes them. Never throws. */
export type FunctionBody = (...values: readonly (Value | undefined)[]) => Value | undefined;

/** `array` and `map` are of anything. */
export type Kind = "string" | "integer" | "boolean" | "ip" | "strings" | "booleans" | "array" | "map";

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
  /** Refuses arguments whose types do not go together. */
  agree?(types: readonly ValueType[], problem: Problem): void;
  /** The body for these literals; undefined stands for arguments that are none. It gives values of the type `gives`. */
  make(literals: readonly (Value | undefined)[], problem: Problem, gives: ValueType, regexes: Pick<RegexTable, "replacer">): FunctionBody;
}

/** Refuses the argument of that number. */
export type Problem = (argument: number, message: string) => never;
