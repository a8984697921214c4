import type { Argument } from "#rules/body/body-reading.ts";

/**
 * What a program may make of values that it joins when a comment begins in one and ends in another (`/*` … `*\/`): a database sees
 * nothing of what is between. The values from the first to the last of these with commas between, as ASP joins them; empty where there
 * are none.
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
