import { ATTACK_CATEGORIES, type AttackCategory, CERTAINTIES, type Certainty } from "../signatures/signature.ts";
import { type Reading, READINGS } from "../signatures/values/normalise.ts";
import { PLACES, type PlaceName } from "../signatures/values/places.ts";
import { isObject } from "#rules/parameters/shape.ts";

/** A row that the operator adds to the own ones, checked; plain data, which crosses between threads. */
export interface OperatorRow {
  /** Rule ids are derived from it. */
  readonly slug: string;
  readonly title: string;
  readonly category: AttackCategory;
  /** In Rust's syntax, for values in lower case, one char for each byte. */
  readonly pattern: string;
  /** Empty: everywhere but in files. */
  readonly places: readonly PlaceName[];
  readonly reading: Reading;
  readonly paranoia: 1 | 2 | 3 | 4;
  /** Score of each value that it hits; null: that of our own rows with its certainty. */
  readonly score: number | null;
  /** Null: as certain as the own rows of its level. */
  readonly certainty: Certainty | null;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

/** A mistake in a row; `key` is the member that has it, empty for the row itself. */
export class RowError extends Error {
  override readonly name = "RowError";
  readonly key: string;

  constructor(key: string, message: string) {
    super(message);
    this.key = key;
  }
}

const SLUG = /^[a-z0-9][a-z0-9-]{0,63}$/;
const TITLE_CHARACTERS_MAX = 200;
const PATTERN_CHARACTERS_MAX = 4096;
const SAMPLES_MAX = 50;
const SAMPLE_CHARACTERS_MAX = 1000;

/** Checks the form of a row. Throws RowError. */
export function readOperatorRow(slug: string, value: unknown): OperatorRow {
  if (!SLUG.test(slug)) throw new RowError("", "the name of a row may have up to 64 lowercase letters, digits and -");
  if (!isObject(value)) throw new RowError("", `a row must be a table, [rows.${slug}]`);
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(MEMBERS, key));
  if (unknown !== undefined) throw new RowError(unknown, `unknown member "${unknown}"; known are ${Object.keys(MEMBERS).join(", ")}`);
  const read = Object.entries(MEMBERS).map(([key, member]) => [key, member(key, value[key])]);
  return { slug, ...(Object.fromEntries(read) as Omit<OperatorRow, "slug">) };
}

type Member<T> = (key: string, value: unknown) => T;

const text =
  (charactersMax: number): Member<string> =>
  (key, value) => {
    if (typeof value !== "string" || value === "" || value.length > charactersMax)
      throw new RowError(key, `${key} must be a text of 1 to ${charactersMax} characters`);
    return value;
  };

const bytes =
  (charactersMax: number): Member<string> =>
  (key, value) =>
    Buffer.from(text(charactersMax)(key, value), "utf8").toString("latin1");

const oneOf =
  <const T>(known: readonly T[]): Member<T> =>
  (key, value) => {
    if (!known.includes(value as T)) throw new RowError(key, `${key} must be one of ${known.join(", ")}`);
    return value as T;
  };

/** `unset`: the value of a row that does not set it. */
const optional =
  <T, U>(member: Member<T>, unset: U): Member<T | U> =>
  (key, value) =>
    value === undefined ? unset : member(key, value);

const listOf =
  <T>(item: Member<T>, min: number, max: number): Member<readonly T[]> =>
  (key, value) => {
    if (!Array.isArray(value) || value.length < min || value.length > max)
      throw new RowError(key, `${key} must be a list of ${min} to ${max}`);
    return value.map((one: unknown) => item(key, one));
  };

const score: Member<number> = (key, value) => {
  if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > 100)
    throw new RowError(key, `${key} must be a whole number from 1 to 100`);
  return Number(value);
};

const samples = listOf(bytes(SAMPLE_CHARACTERS_MAX), 1, SAMPLES_MAX);

/** In the order of the checks. */
const MEMBERS: { readonly [K in Exclude<keyof OperatorRow, "slug">]: Member<OperatorRow[K]> } = {
  title: text(TITLE_CHARACTERS_MAX),
  category: oneOf(ATTACK_CATEGORIES),
  pattern: bytes(PATTERN_CHARACTERS_MAX),
  places: optional(listOf(oneOf(Object.keys(PLACES) as PlaceName[]), 1, Object.keys(PLACES).length), []),
  reading: optional(oneOf(READINGS), "plain"),
  paranoia: optional(oneOf([1, 2, 3, 4]), 1),
  score: optional(score, null),
  certainty: optional(oneOf(CERTAINTIES), null),
  hits: samples,
  misses: samples,
};
