import type { TSchema } from "typebox";
import type { Query } from "#deprecations/effect-handler.ts";
import type { ErrorName } from "#kernel/errors/error-codes.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { compileCheck } from "./validation.ts";

/**
 * Reads the parameters of the schema by their types: numbers and booleans from text, a repeated name as a list. Other
 * parameters are ignored, or refused except those in `others`. Throws `error` if one is invalid.
 */
export type QueryReader = (query: Query) => Record<string, unknown>;

type Kind = "string" | "number" | "boolean";

interface Parameter {
  readonly kinds: readonly Kind[];
  readonly list: "never" | "may" | "always";
}

export function compileQuery(schema: TSchema, error: ErrorName = "invalid_input", others: readonly string[] | null = null): QueryReader {
  const parameters = Object.entries(propertiesOf(schema)).map(([name, property]) => [name, parameterOf(property)] as const);
  const check = compileCheck(schema, "query", error);
  const known = new Set([...parameters.map(([name]) => name), ...(others ?? [])]);
  const refuseOthers = (query: Query): void => {
    const unknown = Object.keys(query).find((name) => !known.has(name));
    if (unknown === undefined) return;
    const message = `"${unknown.slice(0, NAME_SHOWN_MAX)}" is not a parameter of this endpoint; it must be one of ${[...known].join(", ")}.`;
    throw new PlatformError(error, { message, source: `/${unknown.slice(0, NAME_SHOWN_MAX)}` });
  };
  return (query) => {
    if (others !== null) refuseOthers(query);
    const read: Record<string, unknown> = {};
    for (const [name, parameter] of parameters) {
      const given = query[name];
      if (given !== undefined) read[name] = readParameter(name, parameter, given, error);
    }
    check(read);
    return read;
  };
}

function readParameter(name: string, parameter: Parameter, given: string | readonly string[], error: ErrorName): unknown {
  // Stored values never contain it, and PostgreSQL fails on it.
  if (typeof given === "string" ? given.includes("\0") : given.some((text) => text.includes("\0")))
    throw new PlatformError(error, { message: `"${name}" must not contain the character U+0000.`, source: `/${name}` });
  if (typeof given === "string") {
    const value = readValue(given, parameter.kinds);
    return parameter.list === "always" ? [value] : value;
  }
  if (parameter.list === "never") throw new PlatformError(error, { message: `"${name}" may be given only once.`, source: `/${name}` });
  if (given.length > REPEATS_MAX)
    throw new PlatformError(error, { message: `"${name}" may be given ${REPEATS_MAX} times at most.`, source: `/${name}` });
  return given.map((text) => readValue(text, parameter.kinds));
}

const REPEATS_MAX = 1000;
const NAME_SHOWN_MAX = 64;

/** Text that matches no kind stays text, which the schema then refuses with a specific message. */
function readValue(text: string, kinds: readonly Kind[]): unknown {
  if (kinds.includes("number") && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  if (kinds.includes("boolean") && Object.hasOwn(BOOLEANS, text)) return BOOLEANS[text];
  return text;
}

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false, "1": true, "0": false };

const propertiesOf = (schema: TSchema): Record<string, TSchema> =>
  "properties" in schema ? (schema.properties as Record<string, TSchema>) : {};

function parameterOf(schema: TSchema): Parameter {
  const branches = "anyOf" in schema ? (schema.anyOf as TSchema[]) : [schema];
  const lists = branches.filter((branch) => typeOf(branch) === "array");
  const items = lists.flatMap((branch) => ("items" in branch ? [branch.items as TSchema] : []));
  const scalars = branches.filter((branch) => typeOf(branch) !== "array");
  return { kinds: [...scalars, ...items].flatMap(kindsOf), list: lists.length === 0 ? "never" : scalars.length === 0 ? "always" : "may" };
}

const typeOf = (schema: TSchema): unknown => ("type" in schema ? schema.type : undefined);

function kindsOf(schema: TSchema): readonly Kind[] {
  if ("anyOf" in schema) return (schema.anyOf as TSchema[]).flatMap(kindsOf);
  const type = typeOf(schema);
  if (type === "integer" || type === "number") return ["number"];
  if (type === "boolean") return ["boolean"];
  if ("enum" in schema)
    return (schema.enum as unknown[]).map((value) =>
      typeof value === "number" ? "number" : typeof value === "boolean" ? "boolean" : "string",
    );
  return ["string"];
}
