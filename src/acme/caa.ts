import { trimBlanks } from "#kernel/trim.ts";
import type { Authority } from "./authorities.ts";

/** A CAA record (RFC 8659 §4.1); `value` holds bytes as text. */
export interface CaaRecord {
  readonly flags: number;
  readonly tag: string;
  readonly value: string;
}

/** The issuer, and how the name is to be proved. */
export interface CaaQuestion {
  readonly authority: Pick<Authority, "name" | "caaDomains">;
  readonly isWildcard: boolean;
  /** The ACME method, as `validationmethods` names it (RFC 8657 §4); absent if the restriction is left to the authority. */
  readonly method?: "http-01" | "dns-01";
  /** The ACME account (RFC 8657 §3). */
  readonly accountUri?: string;
}

/** Null if the records let the authority issue, otherwise a human-readable reason. An empty set allows every authority. */
export function caaRefusal(records: readonly CaaRecord[], question: CaaQuestion): string | null {
  const unknown = records.find(({ flags, tag }) => (flags & CRITICAL) !== 0 && !KNOWN_TAGS.has(tag.toLowerCase()));
  if (unknown !== undefined) return `they contain the critical property "${unknown.tag}", which this server does not know`;
  const wild = question.isWildcard ? tagged(records, "issuewild") : [];
  // RFC 8659 §4.3: issuewild replaces issue if the set has any.
  const relevant = wild.length > 0 ? wild : tagged(records, "issue");
  if (relevant.length === 0) return null;
  const named = relevant.map(({ value }) => parseIssueValue(value)).filter((issuer) => issuer !== null && isOf(question, issuer.domain));
  if (named.length === 0) return `they do not name ${question.authority.caaDomains.join(" or ")}`;
  const refusals = named.map((issuer) => restriction(issuer!.parameters, question));
  return refusals.includes(null) ? null : (refusals[0] ?? null);
}

export interface Issuer {
  /** Lower case; empty if no authority may issue. */
  readonly domain: string;
  /** By tag in lower case, in their order. */
  readonly parameters: readonly (readonly [tag: string, value: string])[];
}

/** Bit 0 of RFC 8659 §4.1, which counts from the left. */
const CRITICAL = 0x80;
const KNOWN_TAGS: ReadonlySet<string> = new Set(["issue", "issuewild", "iodef", "issuemail", "issuevmc", "contactemail", "contactphone"]);

const LABEL = "[A-Za-z0-9](?:-*[A-Za-z0-9])*";
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const PARAMETER = /^(?<tag>[A-Za-z0-9](?:-*[A-Za-z0-9])*)[ \t]*=[ \t]*(?<value>[\x21-\x3a\x3c-\x7e]*)$/;
/** Longer values are not used in practice, and every part would have to be read. */
const VALUE_LENGTH_MAX = 4096;

/** The value of `issue` and `issuewild` (RFC 8659 §4.2); null if it violates the grammar and therefore names no issuer. */
export function parseIssueValue(text: string): Issuer | null {
  if (text.length > VALUE_LENGTH_MAX) return null;
  const [first = "", ...rest] = text.split(";").map(trimBlanks);
  if (first !== "" && !DOMAIN.test(first)) return null;
  const parameters: [string, string][] = [];
  for (const [index, part] of rest.entries()) {
    // One semicolon may follow at the end, or be alone for "no issuer".
    if (part === "" && index === rest.length - 1) continue;
    const found = PARAMETER.exec(part)?.groups;
    if (found === undefined) return null;
    parameters.push([found["tag"]!.toLowerCase(), found["value"]!]);
  }
  return { domain: first.toLowerCase(), parameters };
}

const tagged = (records: readonly CaaRecord[], tag: string): readonly CaaRecord[] =>
  records.filter((record) => record.tag.toLowerCase() === tag);

const isOf = ({ authority }: CaaQuestion, domain: string): boolean => authority.caaDomains.includes(domain);

/** The restrictions of RFC 8657 beyond the choice of authority. */
function restriction(parameters: Issuer["parameters"], { method, accountUri }: CaaQuestion): string | null {
  for (const [tag, value] of parameters) {
    if (tag === "validationmethods" && method !== undefined && !value.split(",").some((name) => name.toLowerCase() === method))
      return `they allow validation by ${value || "no method"} only`;
    if (tag === "accounturi" && accountUri !== undefined && value !== accountUri) return `they allow the account ${value} only`;
  }
  return null;
}
