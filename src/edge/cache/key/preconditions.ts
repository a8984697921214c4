import { isSameStrongTag, namesTag } from "#wire/http/entity-tag.ts";
import { readByteRange } from "#wire/http/byte-range.ts";
import { parseHttpDate } from "#wire/http/http-date.ts";
import type { RequestFields } from "./secondary-key.ts";

/** The parts of a stored response that preconditions compare. */
export interface Representation {
  readonly status: number;
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Length of the body in bytes; null while unknown. */
  readonly length: number | null;
}

/** How to answer a visitor's request from a stored response. */
export type Answer =
  | { readonly kind: "whole" }
  | { readonly kind: "not_modified" }
  | { readonly kind: "part"; readonly start: number; readonly end: number }
  | { readonly kind: "unsatisfiable" };

const WHOLE: Answer = { kind: "whole" };
const NOT_MODIFIED: Answer = { kind: "not_modified" };

/**
 * Evaluates the preconditions of a GET or HEAD in the order of RFC 9110 §13.2.2. Requests with If-Match or
 * If-Unmodified-Since go to the origin and never come here.
 */
export function evaluatePreconditions(request: RequestFields & { readonly method: string }, stored: Representation, nowMs: number): Answer {
  if (isNotModified(request, stored, nowMs)) return NOT_MODIFIED;
  const [range] = request.headers("range");
  if (range === undefined || request.method !== "GET" || stored.status !== 200 || stored.length === null) return WHOLE;
  if (request.headers("range").length > 1 || !rangeApplies(request.headers("if-range"), stored, nowMs)) return WHOLE;
  const part = readByteRange(range, stored.length);
  if (part === null) return WHOLE;
  return part === "unsatisfiable" ? { kind: "unsatisfiable" } : { kind: "part", ...part };
}

function isNotModified(request: RequestFields, { status, etag, lastModified }: Representation, nowMs: number): boolean {
  // RFC 9110 §13.2.1: preconditions apply only if the response would otherwise be a 200.
  if (status !== 200) return false;
  const tags = request.headers("if-none-match");
  if (tags.length > 0) return namesTag(tags.join(","), etag);
  const [since, ...others] = request.headers("if-modified-since");
  if (since === undefined || others.length > 0 || lastModified === null) return false;
  const sinceMs = parseHttpDate(since, nowMs);
  const modifiedMs = parseHttpDate(lastModified, nowMs);
  return sinceMs !== null && modifiedMs !== null && modifiedMs <= sinceMs;
}

/** If-Range (RFC 9110 §13.1.5): false to send the whole body. A date must match exactly, and counts only as a strong validator. */
function rangeApplies(lines: readonly string[], { etag, lastModified }: Representation, nowMs: number): boolean {
  const [condition, ...others] = lines;
  if (condition === undefined) return true;
  if (others.length > 0) return false;
  if (condition.includes('"')) return etag !== null && isSameStrongTag(condition, etag);
  const conditionMs = parseHttpDate(condition, nowMs);
  return conditionMs !== null && lastModified !== null && conditionMs === parseHttpDate(lastModified, nowMs);
}
