import type { RuleProblem } from "./types.ts";

type Fields = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** One problem for each key that is not in `known`: a misspelt parameter must not be ignored. */
export function only(fields: Fields, known: readonly string[], at = ""): RuleProblem[] {
  return Object.keys(fields)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      pointer: `${at}/${escapePointer(key)}`,
      message: `unknown parameter "${key}"${known.length === 0 ? "; this action has none" : `; known are ${known.join(", ")}`}`,
    }));
}

/** Adds a problem when none of `keys` is there. */
export function present(fields: Fields, keys: readonly string[], problems: RuleProblem[], at: string): void {
  if (keys.every((key) => fields[key] === undefined)) problems.push({ pointer: at, message: `needs ${keys.join(" or ")}` });
}

/** The nested object, or undefined where it is absent or (with a problem added) not an object. */
export function object(fields: Fields, key: string, problems: RuleProblem[], at = ""): Fields | undefined {
  const value = fields[key];
  if (value === undefined || isObject(value)) return value;
  problems.push({ pointer: `${at}/${key}`, message: `${key} must be an object` });
  return undefined;
}

export function text(
  fields: Fields,
  key: string,
  problems: RuleProblem[],
  rule: { readonly at?: string; readonly pattern?: RegExp; readonly what?: string } = {},
): void {
  const value = fields[key];
  if (value === undefined) return;
  if (typeof value !== "string" || (rule.pattern !== undefined && !rule.pattern.test(value))) {
    problems.push({ pointer: `${rule.at ?? ""}/${key}`, message: `${key} must be ${rule.what ?? "a string"}` });
  }
}

export function wholeNumber(
  fields: Fields,
  key: string,
  problems: RuleProblem[],
  rule: { readonly at?: string; readonly min: number; readonly max: number },
): void {
  const value = fields[key];
  if (value === undefined) return;
  if (!Number.isInteger(value) || (value as number) < rule.min || (value as number) > rule.max) {
    problems.push({ pointer: `${rule.at ?? ""}/${key}`, message: `${key} must be a whole number from ${rule.min} to ${rule.max}` });
  }
}

// RFC 6901 §3
export const escapePointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
