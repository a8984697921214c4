import { charge } from "#rules/budget.ts";
import { lowerBytes } from "#rules/text/text-functions.ts";
import type { BodyCause } from "./body-causes.ts";

const BYTE_STEPS = 4;

/**
 * Calls `take` with the parts of a multipart body (RFC 2046 §5.1.1), including their heads: the text between delimiters
 * at the start of a line, with any line end, in any case, also after the closing delimiter. All programs read the
 * canonical form alike; any other form is a cause. `isCut`: the body is longer than `body`. Returns whether the body has
 * a delimiter.
 */
export function eachPart(body: string, boundary: string, isCut: boolean, causes: Set<BodyCause>, take: (part: string) => void): boolean {
  charge(body.length * BYTE_STEPS);
  const mark = `--${boundary.toLowerCase()}`;
  const lower = lowerBytes(body);
  const first = lower.indexOf(mark);
  // A line end before the first delimiter is normal: some programs write it.
  const isBegun = first === -1 && isCut && (mark.startsWith(lower) || `\r\n${mark}`.startsWith(lower));
  if (first !== 0 && !(first === 2 && body.startsWith("\r\n")) && !isBegun) causes.add("delimiters");
  let partFrom = -1;
  let isClosed = false;
  for (let at = first; at !== -1;) {
    const behind = at + mark.length;
    const isEnd = body.startsWith("--", behind);
    const isLine = at === 0 || body[at - 1] === "\n";
    if (!isCanonical(body, at, boundary, isCut)) causes.add("delimiters");
    if (isLine) {
      if (isClosed) causes.add("end");
      if (partFrom !== -1) take(body.slice(partFrom, Math.max(partFrom, lineEndBefore(body, at))));
      isClosed = isEnd;
      partFrom = isEnd ? behind + 2 : lineAfter(body, behind);
    }
    at = lower.indexOf(mark, behind);
  }
  if (partFrom === -1) return false;
  const rest = body.slice(partFrom);
  if (isClosed && /^(?:\r\n)*$/.test(rest)) return true;
  // In a cut body, the last bytes may be the beginning of a delimiter.
  if (!isCut) causes.add("end");
  take(rest);
  return true;
}

/** Whether the delimiter is alone on a line between two CR LF, in the boundary's exact case. */
function isCanonical(body: string, at: number, boundary: string, isCut: boolean): boolean {
  const behind = at + 2 + boundary.length;
  const isLine = at === 0 || body.startsWith("\r\n", at - 2);
  const isEnded = body.startsWith("\r\n", behind) || body.startsWith("--", behind) || (isCut && body.length - behind < 2);
  return isLine && isEnded && body.startsWith(boundary, at + 2);
}

/** End of the line before a delimiter: its line end belongs to the delimiter. */
const lineEndBefore = (body: string, delimiter: number): number => delimiter - (body[delimiter - 2] === "\r" ? 2 : 1);

function lineAfter(body: string, at: number): number {
  const end = body.indexOf("\n", at);
  return end === -1 ? body.length : end + 1;
}
