import { parseContentRange } from "#wire/http/content-range.ts";

/** The ends at which a body was cut out of something longer. The text there may belong to a longer word. */
export type BodyCut = "none" | "start" | "end" | "both";

/**
 * The end of a body as its reader sees it: complete; broken off, though all its bytes were read; or with bytes that were
 * not read.
 */
export type BodyEnd = "whole" | "broken" | "partial";

const ENDS: readonly BodyEnd[] = ["whole", "broken", "partial"];

/** The worse of two ends: of a body, and of its decoded form. */
export const worseTruncation = (one: BodyEnd, other: BodyEnd): BodyEnd => (ENDS.indexOf(one) < ENDS.indexOf(other) ? other : one);

export const isCutAtStart = (cut: BodyCut): boolean => cut === "start" || cut === "both";
export const isCutAtEnd = (cut: BodyCut): boolean => cut === "end" || cut === "both";

/** The cut that a Content-Range describes; "both" if it is not valid. */
export function cutOfRange(value: string): BodyCut {
  const range = parseContentRange(value);
  if (range === null) return "both";
  const isFirst = range.first === 0;
  const isLast = range.length !== null && range.last === range.length - 1;
  if (isFirst) return isLast ? "none" : "end";
  return isLast ? "start" : "both";
}

/** The cut of a response with status 206. With several ranges, each part describes its own. */
export const cutOf = (mediaType: string, contentRange: string): BodyCut =>
  mediaType === "multipart/byteranges" ? "none" : cutOfRange(contentRange);
