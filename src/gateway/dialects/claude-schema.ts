import { type Json, objectOf } from "#gateway/http/json.ts";

/** Deeper schemas go to the provider as they are, which refuses them. */
const DEPTH_MAX = 100;

const FORMATS: ReadonlySet<unknown> = new Set("date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" "));

/** Members that the provider reads; a schema may have them beside a type of any kind. */
const READ: ReadonlySet<string> = new Set([
  ..."type properties required additionalProperties items enum const anyOf oneOf allOf".split(" "),
  ..."$ref $defs definitions description title default $schema".split(" "),
]);

/**
 * A schema of OpenAI's structured outputs for Anthropic, which refuses bounds that OpenAI accepts: the model reads them in the description
 * instead, and `oneOf` becomes `anyOf`. An object without a word about further members gets none, as Anthropic demands.
 */
export const claudeSchema = (schema: Json, depth = 0): Json => {
  if (depth > DEPTH_MAX) return schema;
  const within = (value: unknown): unknown => {
    const one = objectOf(value);
    return one === undefined ? value : claudeSchema(one, depth + 1);
  };
  const each = (value: unknown): unknown => (Array.isArray(value) ? value.map(within) : value);
  const named = (value: unknown): unknown => {
    const all = objectOf(value);
    return all === undefined ? value : Object.fromEntries(Object.entries(all).map(([name, one]) => [name, within(one)]));
  };
  const writers: Readonly<Record<string, (value: unknown) => Json>> = {
    $schema: () => ({}),
    items: (value) => ({ items: within(value) }),
    additionalProperties: (additionalProperties) => ({ additionalProperties }),
    ...Object.fromEntries(["properties", "$defs", "definitions"].map((name) => [name, (value: unknown) => ({ [name]: named(value) })])),
    ...Object.fromEntries(["anyOf", "allOf"].map((name) => [name, (value: unknown) => ({ [name]: each(value) })])),
    oneOf: (value) => ({ anyOf: each(value) }),
  };
  const written: Record<string, unknown> = {};
  const told: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (READ.has(name) || isReadValue(name, value))
      Object.assign(written, Object.hasOwn(writers, name) ? writers[name]?.(value) : { [name]: value });
    else told[name] = value;
  }
  const isObject = schema["type"] === "object" && !("additionalProperties" in schema);
  return { ...written, ...(isObject ? { additionalProperties: false } : {}), ...describedBy(schema["description"], told) };
};

const isReadValue = (name: string, value: unknown): boolean =>
  (name === "format" && FORMATS.has(value)) || (name === "minItems" && (value === 0 || value === 1));

function describedBy(description: unknown, told: Json): Json {
  if (Object.keys(told).length === 0) return {};
  const bounds = Object.entries(told).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return { description: `${typeof description === "string" ? `${description}\n\n` : ""}(${bounds.join(", ")})` };
}
