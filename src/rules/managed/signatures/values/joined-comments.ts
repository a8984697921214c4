import type { Argument } from "#rules/body/body-reading.ts";

/**
 * The text that a program may make of joined values, if a comment starts in one value and ends in another (`/*` …
 * `*\/`): a database ignores everything between. Those of the values from the first to the last of these that begin or
 * end a comment, joined by commas as in ASP; empty without such values.
 */
export function joinedByComments(args: readonly Argument[]): string {
  const first = args.findIndex(({ value }) => opensComment(value));
  if (first === -1) return "";
  const last = args.findLastIndex(({ value }) => value.includes("*/"));
  if (last <= first) return "";
  return args
    .slice(first, last + 1)
    .flatMap(({ value }) => (value.includes("/*") || value.includes("*/") ? [besideComments(value)] : []))
    .join(",");
}

/** The last comment that begins in it does not end there. */
const opensComment = (value: string): boolean => value.includes("/*") && value.lastIndexOf("/*") > value.lastIndexOf("*/");

/** Statements are shorter; the whole value is inspected by itself. */
const BESIDE_BYTES_MAX = 4096;

/** Of a long value, the text behind the first end of a comment, and the text before the comment that it leaves open. */
function besideComments(value: string): string {
  if (value.length <= 2 * BESIDE_BYTES_MAX) return value;
  const end = value.indexOf("*/");
  const behind = end === -1 ? "" : value.slice(end, end + BESIDE_BYTES_MAX);
  if (!opensComment(value)) return behind;
  const start = value.lastIndexOf("/*");
  return behind + value.slice(Math.max(0, start - BESIDE_BYTES_MAX), start + 2);
}
