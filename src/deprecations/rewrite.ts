import type { Deprecation, Effect } from "./deprecation.ts";
import type { JsonObject, Query } from "./effect-handler.ts";
import { interpret } from "./effects/interpreters.ts";

/** A call, as a client writes it. */
export interface WrittenCall {
  readonly method: string;
  /** With its parameters filled in, without the query. */
  readonly path: string;
  readonly query: Query;
  readonly body?: unknown;
  /** Where the client looks for the causes of an error; absent if it reads the result only. */
  readonly causes?: "errors" | "error_chain";
}

/**
 * The newest call that has the effect of a legacy one; null if the row has no mechanical replacement, or does not concern
 * the call.
 */
export function rewritten(row: Deprecation, call: WrittenCall): WrittenCall | null {
  const write = WRITERS[row.effect.kind] as Writer<Effect> | undefined;
  return write?.(row.effect, call, row) ?? null;
}

/** The call as it was before `rewritten`: with the older reading of the response, if the row changes that. */
export const asWritten = (row: Deprecation, call: WrittenCall): WrittenCall =>
  row.effect.kind === "error_wrapper" ? { ...call, causes: "error_chain" } : call;

type Writer<E extends Effect> = (effect: E, call: WrittenCall, row: Deprecation) => WrittenCall | null;

/** By kind of effect. Until the row's day the API rewrites a legacy request itself; from then on the client must. */
const WRITERS: { readonly [K in Effect["kind"]]?: Writer<Extract<Effect, { kind: K }>> } = {
  // The request is unchanged; the position of its errors changes.
  error_wrapper: (_effect, call) => ({ ...call, causes: "errors" }),
  reject_query_forms: (_effect, call, row) => {
    const query = interpret(row).before.query?.(call.query) ?? call.query;
    return query === call.query ? null : { ...call, query: matchingAny(query) };
  },
  reject_request_fields: (_effect, call, row) => withBody(call, (body) => asNewest(row, body)),
  joined_alias: (_effect, call, row) => withBody(call, (body) => asNewest(row, body)),
  listed_alias: (_effect, call, row) => withBody(call, (body) => asNewest(row, body)),
  legacy_alias: ({ of, fields, stands_for }, call, row) => {
    if (of === "fields")
      return withBody(call, (body) => {
        const newest = asNewest(row, body);
        return newest === body ? body : fields.reduce<JsonObject>((left, { field }) => without(left, field.split(".")), newest);
      });
    if (stands_for === undefined) return null;
    const given = call.path.split("/");
    const path = stands_for.split("/").map((part, at) => (part.startsWith(":") ? (given[at] ?? part) : part));
    const moved = { ...call, path: path.join("/") };
    return call.body === undefined ? moved : (withBody(moved, (body) => asNewest(row, body)) ?? moved);
  },
  endpoint_gone: ({ renamed }, call) => {
    if (renamed === undefined) return null;
    const [from, to] = renamed;
    return {
      ...call,
      path: call.path
        .split("/")
        .map((part) => (part === from ? to : part))
        .join("/"),
    };
  },
};

const NO_FILTERS: ReadonlySet<string> = new Set(["page", "per_page", "order", "direction"]);

/** A parameter that is repeated means any of its values here; `match=any` says so to other servers, if no other filter is there. */
function matchingAny(query: Query): Query {
  const filters = Object.keys(query).filter((name) => !NO_FILTERS.has(name));
  const isRepeated = filters.length === 1 && typeof query[filters[0] ?? ""] !== "string";
  return isRepeated ? { ...query, match: "any" } : query;
}

const asNewest = (row: Deprecation, body: JsonObject): JsonObject => interpret(row).before.body?.(body) ?? body;

function withBody(call: WrittenCall, change: (body: JsonObject) => JsonObject): WrittenCall | null {
  const { body } = call;
  if (typeof body !== "object" || body === null || Array.isArray(body)) return null;
  const changed = change(body as JsonObject);
  return changed === body ? null : { ...call, body: changed };
}

/** The object without the field at this path, and without objects on the path that become empty. */
function without(object: JsonObject, [key = "", ...rest]: readonly string[]): JsonObject {
  const { [key]: inner, ...others } = object;
  if (rest.length === 0 || typeof inner !== "object" || inner === null) return rest.length === 0 ? others : object;
  const left = without(inner as JsonObject, rest);
  return Object.keys(left).length === 0 ? others : { ...others, [key]: left };
}
