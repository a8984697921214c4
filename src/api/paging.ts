import type { CursorRequest, PageRequest } from "#control/call.ts";
import type { ErrorName } from "#kernel/errors/error-codes.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Query } from "#deprecations/effect-handler.ts";
import type { Route } from "./route.ts";

export const PER_PAGE_DEFAULT = 20;
export const PER_PAGE_MAX = 1000;
/** Keeps page × per_page exact. */
const PAGE_MAX = 1_000_000_000;

/**
 * `per_page` outside the route's limits becomes the nearest limit, as `result_info` then shows; a value that is not a
 * number is refused with `error`.
 */
export function readPage(query: Query, bounds: Route["per_page"], error?: ErrorName): PageRequest {
  const page = whole(query["page"], "page", error) ?? 1;
  const perPage = whole(query["per_page"], "per_page", error) ?? bounds?.default ?? PER_PAGE_DEFAULT;
  return { page: Math.min(page, PAGE_MAX), per_page: Math.min(Math.max(perPage, bounds?.min ?? 1), bounds?.max ?? PER_PAGE_MAX) };
}

/** The cursor itself is parsed by its creator. */
export function readCursorPage(query: Query, bounds: Route["per_page"]): CursorRequest {
  const cursor = query["cursor"];
  if (Array.isArray(cursor)) throw new PlatformError("invalid_input", { message: `"cursor" may be given only once.`, source: "/cursor" });
  const { per_page } = readPage({ ...query, page: "1" }, bounds);
  return typeof cursor === "string" && cursor !== "" ? { per_page, cursor } : { per_page };
}

function whole(value: Query[string] | undefined, name: string, error: ErrorName = "invalid_input"): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || !/^\d{1,15}$/.test(value) || Number(value) < 1)
    throw new PlatformError(error, { message: `"${name}" must be a whole number of at least 1.`, source: `/${name}` });
  return Number(value);
}
