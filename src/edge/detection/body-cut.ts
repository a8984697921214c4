import { parseContentRange } from "#wire/http/content-range.ts";

/** At which ends a body is a piece of something longer: what stands there may be the rest of something, or its beginning. */
export type BodyCut = "none" | "start" | "end" | "both";

/**
 * How a body ended for whoever looks at it: with its end; before that, though there was nothing more to look at; or with something
 * that was not looked at.
 */
export type BodyEnd = "whole" | "broken" | "partial";

const ENDS: readonly BodyEnd[] = ["whole", "broken", "partial"];

/** What holds where both do, of a body and of what was made of it. */
export const worseTruncation = (one: BodyEnd, other: BodyEnd): BodyEnd => (ENDS.indexOf(one) < ENDS.indexOf(other) ? other : one);

export const isCutAtStart = (cut: BodyCut): boolean => cut === "start" || cut === "both";
export const isCutAtEnd = (cut: BodyCut): boolean => cut === "end" || cut === "both";

/** What a Content-Range says of the bytes beside it; of one that says nothing, anything may be true. */
export function cutOfRange(value: string): BodyCut {
  const range = parseContentRange(value);
  if (range === null) return "both";
  const isFirst = range.first === 0;
  const isLast = range.length !== null && range.last === range.length - 1;
  if (isFirst) return isLast ? "none" : "end";
  return isLast ? "start" : "both";
}

/** Of a response of status 206. Where several ranges come in one, each says for itself where it is from. */
export const cutOf = (mediaType: string, contentRange: string): BodyCut =>
  mediaType === "multipart/byteranges" ? "none" : cutOfRange(contentRange);
