import { formatHttpDate } from "#wire/http/http-date.ts";
import { type ResponseField, singleValue } from "#edge/cache/policy/response-fields.ts";
import { type RequestKey, StoredResponse } from "#edge/cache/store/stored-response.ts";
import { cacheabilityOf, type StoringRequest } from "#edge/cache/policy/cacheability.ts";

/** Fields of the stored body, and fields for a single visitor: a 304 does not update them. */
const NOT_UPDATED = new Set(["content-length", "content-encoding", "content-type", "content-range", "set-cookie", "age"]);

/**
 * The stored response with the fields of the 304 that confirmed it (RFC 9111 §3.2, §4.3.4). Null if it must no longer be
 * stored, "another" if the 304 is about another response.
 */
export function refreshed(
  stored: StoredResponse,
  received: readonly ResponseField[],
  asked: RequestKey,
  request: StoringRequest,
): StoredResponse | null | "another" {
  const tag = singleValue(received, "etag");
  if (tag !== null && stored.etag !== null && opaque(tag) !== opaque(stored.etag)) return "another";
  const updates = received.filter(({ key }) => !NOT_UPDATED.has(key));
  const updated = new Set(updates.map(({ key }) => key));
  const age = received.filter(({ key }) => key === "age");
  const date = updated.has("date") ? [] : [{ name: "Date", key: "date", value: formatHttpDate(request.responseMs) }];
  const kept = stored.fields.filter(({ key }) => !updated.has(key) && key !== "date");
  const storable = cacheabilityOf(stored.status, [...kept, ...updates, ...date, ...age], request);
  if (storable === null) return null;
  const next = new StoredResponse(asked, stored.reason, storable, stored.secondary, stored.length, stored.file);
  next.body = stored.body;
  return next;
}

const opaque = (tag: string): string => (tag.startsWith("W/") ? tag.slice(2) : tag);
