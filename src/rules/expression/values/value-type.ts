/** The type of a value. Bytes are strings: both hold one char for each byte. */
export type ValueType =
  | { readonly kind: "string" | "integer" | "boolean" | "ip" }
  | { readonly kind: "array"; readonly of: ValueType }
  | { readonly kind: "map"; readonly of: ValueType };

export const STRING = { kind: "string" } as const satisfies ValueType;
export const INTEGER = { kind: "integer" } as const satisfies ValueType;
export const BOOLEAN = { kind: "boolean" } as const satisfies ValueType;
/** Addresses are text until they are compared. */
export const IP = { kind: "ip" } as const satisfies ValueType;

export const arrayOf = (of: ValueType): ValueType => ({ kind: "array", of });
export const mapOf = (of: ValueType): ValueType => ({ kind: "map", of });

/** As in messages and in the reference: `Map<Array<String>>`. */
export function typeName(type: ValueType): string {
  if (type.kind === "array") return `Array<${typeName(type.of)}>`;
  if (type.kind === "map") return `Map<${typeName(type.of)}>`;
  return NAMES[type.kind];
}

const NAMES = { string: "String", integer: "Integer", boolean: "Boolean", ip: "IP address" } as const;

export function sameType(a: ValueType, b: ValueType): boolean {
  if (a.kind === "array" || a.kind === "map") return b.kind === a.kind && sameType(a.of, b.of);
  return a.kind === b.kind;
}

/** Values of expressions. A missing value is undefined; integers that are not safe numbers are bigints. */
export type Value = string | number | bigint | boolean | readonly Value[] | ValueMap;

export interface ValueMap {
  get(key: string): Value | undefined;
  /** For `[*]`. */
  values(): readonly Value[];
}
