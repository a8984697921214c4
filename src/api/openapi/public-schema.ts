import { DOCUMENTED, NEEDED } from "#model/documented.ts";

type Json = Readonly<Record<string, unknown>>;

/** A schema as clients see it: fields that the use-case checks have their documented types, and those it needs are required. */
export function publicSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(publicSchema);
  if (typeof schema !== "object" || schema === null) return schema;
  const { [DOCUMENTED]: shown, [NEEDED]: _, ...own } = schema as Json;
  const members = Object.fromEntries(Object.entries(own).map(([key, value]) => [key, publicSchema(value)]));
  if (shown !== undefined) return { ...(publicSchema(shown) as Json), ...members };
  const needed = neededIn(own["properties"]);
  return needed.length === 0 ? members : { ...members, required: [...((own["required"] ?? []) as readonly string[]), ...needed] };
}

const neededIn = (properties: unknown): readonly string[] =>
  Object.entries((properties ?? {}) as Readonly<Record<string, Json>>)
    .filter(([, property]) => property[NEEDED] === true)
    .map(([name]) => name);
