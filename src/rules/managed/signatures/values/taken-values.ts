import type { Argument, ArgumentSource } from "#rules/body/body-reading.ts";
import { eachInner } from "#rules/body/inner-values.ts";
import { decodePercent } from "#rules/text/url-functions.ts";
import { ARGUMENTS, COOKIES } from "./places.ts";

/** Receives a value; `part` is its field of expressions, and `name` its name there. */
export type TakeValue = (text: string, target: number, part: string, name: string, isDocument?: boolean) => void;

/** The fields of expressions that arguments are in, with that of their names, and the target that signatures know them by. */
const PLACES: Readonly<Record<ArgumentSource, readonly [part: string, names: string, target: number]>> = {
  query: ["http.request.uri.args", "http.request.uri.args.names", ARGUMENTS],
  form: ["http.request.body.form", "http.request.body.form.names", ARGUMENTS],
  multipart: ["http.request.body.multipart", "http.request.body.multipart.names", ARGUMENTS],
  json: ["http.request.body.raw", "http.request.body.raw", ARGUMENTS],
  xml: ["http.request.body.raw", "http.request.body.raw", ARGUMENTS],
  element: ["http.request.body.raw", "http.request.body.raw", ARGUMENTS],
  cookie: ["http.request.cookies", "http.request.cookies", COOKIES],
};

/** `seen`: names that were already inspected; objects of a list share them. */
export function takeArgument({ source, name, value, otherNames, otherValues, path }: Argument, take: TakeValue, seen?: Set<string>): void {
  const [part, names, target] = PLACES[source];
  if (name !== value && seen?.has(name) !== true && !(source === "json" && COMPARISON.test(name) && isInFilter(path))) {
    take(name, target, names, "");
    // Readings of names are parts of it, except those that programs read from two parameters.
    if (source === "multipart") for (const other of otherNames) take(other, target, names, "");
    seen?.add(name);
  }
  if (source === "json" && CHAINS.test(path)) take(path, target, names, "");
  const inner = (text: string): void => take(text, target, part, path);
  take(value, target, part, path, eachInner(value, inner));
  // A cookie's other values differ only by decoded escapes, which the value itself shows.
  for (const other of otherValues) {
    if (source !== "cookie") take(other, target, part, path);
    eachInner(other, inner);
  }
}

/** Operators of conditions, which interfaces for queries take in the member for their filter. */
const COMPARISON = /^\$(?:eq|gte?|lte?|n?in|n?or|and|not|exists|regex|options|all|size|elemmatch)$/i;
const FILTERS: ReadonlySet<string> = new Set(["filter", "filters", "where", "query", "selector", "criteria", "conditions", "match"]);
const isInFilter = (path: string): boolean =>
  path
    .split(".", 12)
    .slice(0, -1)
    .some((name) => FILTERS.has(name));

/** Names whose path of members shows an attack. */
const CHAINS = /(?:constructor\.prototype|class\.module\.class)/i;

/**
 * Calls `take` with each segment of a path that is not only a name, and with the texts that programs take out of it: programs take their
 * parameters from segments.
 */
export function eachSegment(path: string, take: (segment: string) => void): void {
  for (const segment of path.split("/", SEGMENTS_MAX)) {
    for (const value of segment.includes(";") ? [segment, ...matrixValues(segment)] : [segment]) {
      if (UNUSUAL_SEGMENT.test(value) || SERIALISED.test(value)) take(value);
      eachInner(decodePercent(value), take);
    }
  }
}

/** How objects of several languages begin, in base64 or hexadecimal. */
const SERIALISED = /^(?:ro0a|aced|h4si|tzo|ytox|gas|ga[jn]|y29z|y3b|bah)[\w-]{8}/i;

const SEGMENTS_MAX = 64;
/** The values of a segment's parameters (RFC 3986 §3.3). */
const matrixValues = (segment: string): readonly string[] =>
  segment
    .split(";", SEGMENTS_MAX)
    .slice(1)
    .map((parameter) => parameter.slice(parameter.indexOf("=") + 1));
const UNUSUAL_SEGMENT = /[^\w.~@:-]/;
