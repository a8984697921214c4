import { type CallShape, shapeOf, type ShapeWords, shapeWords } from "#deprecations/call-shape.ts";
import type { Query } from "#deprecations/effect-handler.ts";
import type { Deprecation } from "#deprecations/deprecation.ts";
import type { Route } from "#api/route.ts";

/** Extracts the form of a request's content, for the calls of one route. */
export type ShapeReader = (query: Query, body: unknown) => CallShape;

/** The words of a route are read from its schemas once, when it is first called. */
export function createShapeReader(table: readonly Deprecation[], route: Pick<Route, "query" | "body">): ShapeReader {
  let words: ShapeWords | undefined;
  return (query, body) => shapeOf(query, body, (words ??= shapeWords(table, namesIn([route.query, route.body]))));
}

/** Names of the properties anywhere in the schemas, without keys of maps, which belong to the caller. */
function namesIn(schemas: readonly unknown[]): ReadonlySet<string> {
  const names = new Set<string>(["page", "per_page", "cursor"]);
  const seen = new Set<object>();
  const waiting: unknown[] = [...schemas];
  for (let schema = waiting.pop(); schema !== undefined || waiting.length > 0; schema = waiting.pop()) {
    if (typeof schema !== "object" || schema === null || seen.has(schema)) continue;
    seen.add(schema);
    const { properties, items, anyOf, allOf, oneOf } = schema as Record<string, unknown>;
    for (const [name, inner] of Object.entries((properties as Record<string, unknown>) ?? {})) {
      names.add(name);
      waiting.push(inner);
    }
    for (const list of [items, anyOf, allOf, oneOf]) waiting.push(...(Array.isArray(list) ? (list as unknown[]) : [list]));
  }
  return names;
}
