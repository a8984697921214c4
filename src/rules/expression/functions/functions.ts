import type { LanguageFunction, Parameter, Kind } from "./language-function.ts";
import { ENCODING_FUNCTIONS } from "./encoding-functions.ts";
import { PRESENCE_FUNCTIONS } from "./presence-functions.ts";
import { REPLACEMENT_FUNCTIONS } from "./replacement-functions.ts";
import { STRING_FUNCTIONS } from "./string-functions.ts";
import type { ValueType } from "#rules/expression/values/value-type.ts";

/** In the order of their names. */
export const FUNCTIONS: readonly LanguageFunction[] = [
  ...STRING_FUNCTIONS,
  ...ENCODING_FUNCTIONS,
  ...PRESENCE_FUNCTIONS,
  ...REPLACEMENT_FUNCTIONS,
].toSorted((a, b) => (a.name < b.name ? -1 : 1));

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
  map: "Map",
};

export function isOfKind(type: ValueType, kind: Kind): boolean {
  if (kind === "strings") return type.kind === "array" && type.of.kind === "string";
  if (kind === "booleans") return type.kind === "array" && type.of.kind === "boolean";
  return type.kind === kind;
}
