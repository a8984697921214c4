import { RCODE } from "#wire/dns/codes.ts";
import { keyOf, type NameKey } from "#wire/dns/name.ts";
import type { Answer } from "#nameserver/answer/answer-rrset.ts";

/** Responses that say the same are of one sort: what tells them apart is their kind and this name. */
const KINDS = { error: 1, answer: 2, no_data: 3, no_name: 4, delegation: 5 } as const;
type Kind = keyof typeof KINDS;

/** Errors have no name: whatever was asked, they are all alike. */
export const ERROR_SORT = numberOf("error", "");

/**
 * The sort of a response, as a number that rarely two have in common. Names that a wildcard makes, and names that do
 * not exist, are without end: they count as the wildcard's and the zone's. The type asked for does not matter.
 */
export function responseClassOf({ rcode, answers, denial }: Answer): number {
  const [first] = answers;
  if (first) return numberOf("answer", first.origin?.source ?? keyOf(first.name));
  if ((rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) || !denial) return ERROR_SORT;
  return numberOf(denial.kind, denial.kind === "delegation" ? denial.cut : denial.zone.key);
}

/**
 * Whether there are as many such responses as somebody likes to ask for: the name does not exist or lies in another zone,
 * or a wildcard or a DNAME record made it.
 */
export function isEndless({ answers, denial }: Answer, asked: NameKey): boolean {
  const [first] = answers;
  if (first) return (first.origin?.source ?? keyOf(first.name)) !== asked;
  return denial?.kind !== "no_data" || denial.source !== asked;
}

/** FNV-1a. */
function numberOf(kind: Kind, name: NameKey | ""): number {
  let hash = 0x811c9dc5 ^ KINDS[kind];
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash;
}
