import type { Argument } from "#rules/body/body-reading.ts";

/**
 * The text that a program may make of joined values, if a comment starts in one value and ends in another (`/*` …
 * `*\/`): a database ignores everything between. The values from the first to the last of these, joined by commas as in
 * ASP; empty without such values.
 */
export function joinedByComments(args: readonly Argument[]): string {
  const first = args.findIndex(({ value }) => opensComment(value));
  if (first === -1) return "";
  const last = args.findLastIndex(({ value }) => value.includes("*/"));
  if (last <= first) return "";
  return args
    .slice(first, last + 1)
    .map(({ value }) => value)
    .join(",");
}

/** The last comment that begins in it does not end there. */
const opensComment = (value: string): boolean => value.includes("/*") && value.lastIndexOf("/*") > value.lastIndexOf("*/");
