import { RCODE } from "#wire/dns/codes.ts";
import { keyOf, type NameKey } from "#wire/dns/name.ts";
import type { Answer } from "#nameserver/answer/answer-rrset.ts";

/** The class of a response: its kind and one name. */
const KINDS = { error: 1, answer: 2, no_data: 3, no_name: 4, delegation: 5 } as const;
type Kind = keyof typeof KINDS;

/** Errors have no name, because all errors count as one class, whatever the query. */
export const ERROR_SORT = numberOf("error", "");

/**
 * The class of a response, as a hash. Wildcards and missing names can produce any number of names: such responses count
 * under the wildcard or the zone. The query type does not matter.
 */
export function responseClassOf({ rcode, answers, denial }: Answer): number {
  const [first] = answers;
  if (first) return numberOf("answer", first.origin?.source ?? keyOf(first.name));
  if ((rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) || !denial) return ERROR_SORT;
  return numberOf(denial.kind, denial.kind === "delegation" ? denial.cut : denial.zone.key);
}

/**
 * Whether clients can cause any number of such responses: the name does not exist or belongs to another zone, or a
 * wildcard or DNAME produced it.
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
