/** A JSON object from outside; its members may have any type. */
export type Json = Readonly<Record<string, unknown>>;

/** The provider's dialect cannot express the request. The message names the position and is sent to the client. */
export class UntranslatableError extends Error {}

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

/** The value if it has the type, otherwise undefined (or an empty list); for reading the answers of providers. */
export const objectOf = (value: unknown): Json | undefined => (isObject(value) ? value : undefined);
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const objectsOf = (value: unknown): readonly Json[] => listOf(value).filter(isObject);
export const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
export const countOf = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0);

/** Objects and arrays of one text. A parser takes half a microsecond for each, while the thread serves nobody else. */
export const CONTAINERS_MAX = 250_000;

export class TooManyContainersError extends Error {}

/**
 * The value of a text from a client or a provider: the gateway reads their JSON nowhere else. Throws SyntaxError, and TooManyContainersError
 * for a text with more than 250,000 opening brackets and braces.
 */
export function parseJson(text: string): unknown {
  if (text.length > CONTAINERS_MAX && hasMore(text, CONTAINERS_MAX)) throw new TooManyContainersError();
  return JSON.parse(text) as unknown;
}

/** Undefined for a text that is not JSON. Throws TooManyContainersError, for callers that must know everything in a text. */
export function scannedJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof TooManyContainersError) throw error;
    return undefined;
  }
}

export function parsedJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Brackets inside strings count as well, which does not affect honest texts: prompts have at most one in some 50 characters. */
function hasMore(text: string, most: number): boolean {
  let count = 0;
  for (const bracket of ["[", "{"])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (++count > most) return true;
  return false;
}

/** Reads members of a request; refuses a member of another type and names its position. Null counts as absent, as at OpenAI. */
export class Reader {
  readonly #value: Json;
  readonly #place: string;

  constructor(value: unknown, place: string) {
    if (!isObject(value)) throw new UntranslatableError(`${place || "the body"} must be an object`);
    this.#value = value;
    this.#place = place;
  }

  has(key: string): boolean {
    return (this.#value[key] ?? null) !== null;
  }

  raw(key: string): unknown {
    return this.#value[key] ?? undefined;
  }

  placeOf(key: string): string {
    return this.#place === "" ? key : `${this.#place}.${key}`;
  }

  text(key: string): string {
    return this.optionalText(key) ?? this.#refuse(key, "a string");
  }

  optionalText(key: string): string | undefined {
    return this.#optional(key, "a string", (value) => typeof value === "string") as string | undefined;
  }

  number(key: string): number | undefined {
    return this.#optional(key, "a number", (value) => typeof value === "number") as number | undefined;
  }

  boolean(key: string): boolean | undefined {
    return this.#optional(key, "true or false", (value) => typeof value === "boolean") as boolean | undefined;
  }

  object(key: string): Json | undefined {
    return this.#optional(key, "an object", isObject) as Json | undefined;
  }

  list(key: string): readonly unknown[] | undefined {
    return this.#optional(key, "an array", Array.isArray) as readonly unknown[] | undefined;
  }

  reader(key: string): Reader {
    return new Reader(this.raw(key), this.placeOf(key));
  }

  readers(key: string): readonly Reader[] {
    return (this.list(key) ?? []).map((value, i) => new Reader(value, `${this.placeOf(key)}[${i}]`));
  }

  refuse(key: string, why: string): never {
    throw new UntranslatableError(`${this.placeOf(key)}: ${why}`);
  }

  #optional(key: string, what: string, holds: (value: unknown) => boolean): unknown {
    const value = this.raw(key);
    return value === undefined || holds(value) ? value : this.#refuse(key, what);
  }

  #refuse(key: string, what: string): never {
    throw new UntranslatableError(`${this.placeOf(key)} must be ${what}`);
  }
}
