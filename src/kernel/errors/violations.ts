/** The used part of a validator's finding. */
interface Violation {
  readonly keyword: string;
  readonly message: string;
  readonly params: object;
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
  null: "null",
};

/** A type of JSON Schema in a sentence. */
export const typeName = (type: unknown): string => TYPES[String(type)] ?? String(type);

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "must be a time, as in 2026-01-31T12:00:00Z",
  date: "must be a date, as in 2026-01-31",
  uri: "must be a URL",
  email: "must be an e-mail address",
  uuid: "must be a UUID",
};

type Params = Readonly<Record<string, unknown>>;

const items = (count: unknown, thing: string): string => `${String(count)} ${thing}${count === 1 ? "" : "s"}`;
const atMost =
  (thing: string) =>
  ({ limit }: Params) =>
    `must have at most ${items(limit, thing)}`;
const atLeast =
  (thing: string) =>
  ({ limit }: Params) =>
    `must have at least ${items(limit, thing)}`;
const unknown = (names: unknown): string => {
  const quoted = [names].flat().map((name) => JSON.stringify(name));
  return `has unknown members: ${quoted.join(", ")}`;
};

/** Sentences about values, without their subject, by the keyword of JSON Schema that a value violates. */
const SENTENCES: Readonly<Record<string, (params: Params) => string>> = {
  required: () => "is required",
  boolean: () => "is not allowed here",
  not: () => "is not allowed here",
  additionalProperties: ({ additionalProperties }) => unknown(additionalProperties),
  unevaluatedProperties: ({ unevaluatedProperties }) => unknown(unevaluatedProperties),
  propertyNames: ({ propertyNames }) =>
    `has members with invalid names: ${[propertyNames]
      .flat()
      .map((name) => JSON.stringify(name))
      .join(", ")}`,
  maxLength: atMost("character"),
  minLength: atLeast("character"),
  maxItems: atMost("item"),
  minItems: atLeast("item"),
  maxProperties: atMost("member"),
  minProperties: atLeast("member"),
  uniqueItems: () => "must not have the same item twice",
  contains: () => "lacks an item that it must have",
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${String(limit)}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${String(limit)}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${String(multipleOf)}`,
  pattern: ({ pattern }) => `must match the regular expression ${String(pattern)}`,
  format: ({ format }) => FORMATS[String(format)] ?? `must have the format ${String(format)}`,
  oneOf: () => "must match exactly one of the alternatives",
};

/** The sentence about a violation, without its subject. Validators write for those who know the schema. */
export function violation({ keyword, message, params }: Violation): string {
  if (keyword === "~refine") return message;
  return Object.hasOwn(SENTENCES, keyword) ? (SENTENCES[keyword]?.(params as Params) ?? "is not valid") : "is not valid";
}
