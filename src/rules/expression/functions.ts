import type { Reader, TypedValue } from "./typed.ts";

/** A function of the language. `make` is called with as many arguments, of those types. */
export interface LanguageFunction {
  readonly name: string;
  /** One entry an argument: the types it may have. */
  readonly parameters: readonly (readonly TypedValue["type"][])[];
  make(args: readonly TypedValue[]): TypedValue;
}

const STRING = ["string"] as const;

export const FUNCTIONS: ReadonlyMap<string, LanguageFunction> = new Map(
  (
    [
      { name: "starts_with", parameters: [STRING, STRING], make: ([text, part]) => both(text, part, (a, b) => a.startsWith(b)) },
      { name: "ends_with", parameters: [STRING, STRING], make: ([text, part]) => both(text, part, (a, b) => a.endsWith(b)) },
      { name: "lower", parameters: [STRING], make: ([text]) => mapped(text, lowerBytes) },
      { name: "upper", parameters: [STRING], make: ([text]) => mapped(text, upperBytes) },
      { name: "len", parameters: [["string", "strings"]], make: ([value]) => length(value) },
    ] satisfies LanguageFunction[]
  ).map((row) => [row.name, row]),
);

// Only ASCII letters have cases: strings are bytes, and other bytes are parts of UTF-8.
export const lowerBytes = (text: string): string => (/[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, (part) => part.toLowerCase()) : text);
const upperBytes = (text: string): string => (/[a-z]/.test(text) ? text.replace(/[a-z]+/g, (part) => part.toUpperCase()) : text);

/** The checker has made sure of types and numbers, so anything else is a value that is never there. */
const stringOf = (value: TypedValue | undefined): Reader<string> => (value?.type === "string" ? value.read : () => undefined);

function both(left: TypedValue | undefined, right: TypedValue | undefined, test: (a: string, b: string) => boolean): TypedValue {
  const readLeft = stringOf(left);
  const readRight = stringOf(right);
  const read: Reader<boolean> = (request, response) => {
    const a = readLeft(request, response);
    const b = readRight(request, response);
    return a === undefined || b === undefined ? undefined : test(a, b);
  };
  return { type: "boolean", read };
}

function mapped(value: TypedValue | undefined, map: (text: string) => string): TypedValue {
  const read = stringOf(value);
  return {
    type: "string",
    read: (request, response) => {
      const text = read(request, response);
      return text === undefined ? undefined : map(text);
    },
  };
}

function length(value: TypedValue | undefined): TypedValue {
  const read: Reader<{ readonly length: number }> = value?.type === "strings" ? value.read : stringOf(value);
  return { type: "integer", read: (request, response) => read(request, response)?.length };
}
