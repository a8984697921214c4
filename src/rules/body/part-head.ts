import { lowerBytes } from "#rules/text/text-functions.ts";
import type { BodyCause } from "./body-causes.ts";
import { isToken } from "./field-value.ts";

export interface PartHead {
  /** Its lines as they were sent, continued ones joined. */
  readonly lines: readonly string[];
  /** The values of a header field of the part, by lower-case name. */
  values(name: string): readonly string[];
  /** The bytes after the head. */
  readonly value: string;
  /** Whether the empty line after the head is there. */
  readonly isEnded: boolean;
}

const LINES_MAX = 16;
const HEAD_BYTES_MAX = 8192;
/** Lines read of a head that programs may read differently. */
const LOOSE_LINES_MAX = 64;

/** Reads the head of a part as any program may, and adds the causes for which programs would differ. */
export function readPartHead(part: string, causes: Set<BodyCause>): PartHead {
  const { head, value, isEnded } = splitHead(part);
  if (!isEnded) causes.add("part-head");
  // oxlint-disable-next-line no-control-regex
  const isOdd = head.length > HEAD_BYTES_MAX || /[\0-\x08\x0b\x0c\x0e-\x1f]|(?:^|[^\r])\n|\r(?:[^\n]|$)/.test(head);
  const lines = head.slice(0, HEAD_BYTES_MAX).split(/\r?\n/, LOOSE_LINES_MAX);
  if (lines.at(-1) === "") lines.pop();
  if (isOdd || lines.length > LINES_MAX) causes.add("part-head");
  const fields: [name: string, value: string][] = [];
  const sent: string[] = [];
  for (const line of lines) {
    const last = fields.at(-1);
    // RFC 5322 §2.2.3: for some programs, a line that begins with a blank continues the previous one.
    const isFolded = /^[ \t]/.test(line);
    if (isFolded && last !== undefined) last[1] += ` ${line.trim()}`;
    if (isFolded && sent.length > 0) sent.push(`${sent.pop()!} ${line.trim()}`);
    else sent.push(line);
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    if (isFolded || !isToken(name)) causes.add("part-head");
    if (colon > 0) fields.push([lowerBytes(name.trim()), line.slice(colon + 1).trim()]);
  }
  return { value, isEnded, lines: sent, values: (name) => fields.flatMap(([own, text]) => (own === name ? [text] : [])) };
}

/** A head ends at the first empty line with CR LF; without one, at the first empty line with LF. */
function splitHead(part: string): { readonly head: string; readonly value: string; readonly isEnded: boolean } {
  if (part.startsWith("\r\n")) return { head: "", value: part.slice(2), isEnded: true };
  const blank = part.indexOf("\r\n\r\n");
  if (blank !== -1) return { head: part.slice(0, blank + 2), value: part.slice(blank + 4), isEnded: true };
  const bare = /\r?\n\r?\n/.exec(part);
  if (bare === null) return { head: part, value: part, isEnded: false };
  return { head: `${part.slice(0, bare.index)}\n`, value: part.slice(bare.index + bare[0].length), isEnded: true };
}
