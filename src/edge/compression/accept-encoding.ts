import { rememberTexts } from "#rules/text/memo.ts";
import type { Coding } from "#edge/exchange/decisions.ts";

/** The best first: what is asked for equally is written in the order of what it saves for its time. */
export const CODINGS: readonly Coding[] = ["zstd", "br", "gzip"];

const MEMBERS_MAX = 32;
const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** How much a visitor wants each coding, from 0 to 1 (RFC 9110 §12.5.3). */
export interface AcceptedCodings {
  quality(coding: Coding): number;
  /** Of the body as it is, where it is named; -1 where it is not, so that any coding is better. */
  readonly identity: number;
}

export function readAcceptEncoding(lines: readonly string[]): AcceptedCodings {
  const qualities = new Map<string, number>();
  for (const member of lines.join(",").toLowerCase().split(",", MEMBERS_MAX)) {
    const [name = "", ...parameters] = member.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    // What is malformed is not taken for a wish.
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
 * What a visitor's Accept-Encoding comes to, in one form whatever its order, weights and other codings are: what a cache
 * asks an origin for, and tells stored responses apart by (RFC 9111 §4.1). Null without the field.
 */
export const codingsAsked = (lines: readonly string[]): string | null =>
  lines.length === 0 ? null : askedOf(lines.length === 1 ? lines[0]! : lines.join(","));

/** The coding that a visitor wants most of those there are, the best first; null for the body as it is. */
export function preferredCoding(accepted: AcceptedCodings, codings: readonly Coding[]): Coding | null {
  let best: Coding | null = null;
  for (const coding of codings) if (accepted.quality(coding) > (best === null ? 0 : accepted.quality(best))) best = coding;
  return best !== null && accepted.identity > accepted.quality(best) ? null : best;
}
