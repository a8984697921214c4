import { rememberTexts } from "#rules/text/memo.ts";
import type { Coding } from "#edge/exchange/decisions.ts";

/** Codings in order of preference, by the bytes they save for their time, for visitors who accept several equally. */
export const CODINGS: readonly Coding[] = ["zstd", "br", "gzip"];

const MEMBERS_MAX = 32;
const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** The visitor's preference for each coding, from 0 to 1 (RFC 9110 §12.5.3). */
export interface AcceptedCodings {
  quality(coding: Coding): number;
  /** The preference for the unchanged body; -1 if the field does not name it, so that any coding is better. */
  readonly identity: number;
}

export function readAcceptEncoding(lines: readonly string[]): AcceptedCodings {
  const qualities = new Map<string, number>();
  for (const member of lines.join(",").toLowerCase().split(",", MEMBERS_MAX)) {
    const [name = "", ...parameters] = member.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    // A malformed weight counts as 0.
    if (name !== "") qualities.set(name === "x-gzip" ? "gzip" : name, weight === undefined ? 1 : QUALITY.test(weight) ? Number(weight) : 0);
  }
  return {
    quality: (coding) => qualities.get(coding) ?? qualities.get("*") ?? 0,
    identity: qualities.get("identity") ?? -1,
  };
}

const ASKED: readonly Coding[] = ["gzip", "br", "zstd"];
const NONE = "identity";

const askedOf = rememberTexts((text: string): string => {
  const accepted = readAcceptEncoding([text]);
  return preferredCoding(accepted, CODINGS) === null ? NONE : ASKED.filter((coding) => accepted.quality(coding) > 0).join(", ");
});

/**
 * A visitor's Accept-Encoding in one normal form, regardless of order, weights and other codings. The cache sends it to
 * origins, and distinguishes stored responses by it (RFC 9111 §4.1). Null without the field.
 */
export const requestedCodings = (lines: readonly string[]): string | null =>
  lines.length === 0 ? null : askedOf(lines.length === 1 ? lines[0]! : lines.join(","));

/** The visitor's preferred one of `codings`, which are in order of our preference; null for the unchanged body. */
export function preferredCoding(accepted: AcceptedCodings, codings: readonly Coding[]): Coding | null {
  let best: Coding | null = null;
  for (const coding of codings) if (accepted.quality(coding) > (best === null ? 0 : accepted.quality(best))) best = coding;
  return best !== null && accepted.identity > accepted.quality(best) ? null : best;
}
