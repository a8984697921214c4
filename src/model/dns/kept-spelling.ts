import { describe } from "#wire/dns/record-types.ts";

/** Content and structured form of a record, as clients see them. */
interface Shown {
  readonly content: string;
  readonly data: object | null;
}

/** The member of `data` with the name, and the position of the name in the content, counted from the end if negative. */
const NAMES: Readonly<Record<string, { readonly member: string; readonly at: number }>> = {
  SVCB: { member: "target", at: 1 },
  HTTPS: { member: "target", at: 1 },
  NAPTR: { member: "replacement", at: -1 },
};

/** The member of `data` in hexadecimal, which is the last word of the content. */
const HEXADECIMAL: Readonly<Record<string, string>> = { DS: "digest", SSHFP: "fingerprint", TLSA: "certificate", SMIMEA: "certificate" };

/**
 * Values that clients compare with what they sent are shown as they were sent: octoDNS, Terraform and others would
 * update the record in each run. These are final dots of names and the case of hexadecimal digits.
 */
export function keepSpelling<S extends Shown>(type: string, shown: S, sent: Shown): S {
  const words = sent.data === null ? sent.content.trim().split(/\s+/) : [];
  const valueOf = (member: string, at: number): unknown =>
    sent.data === null ? words.at(at) : (sent.data as Readonly<Record<string, unknown>>)[member];
  const place = NAMES[type];
  if (place !== undefined) {
    const name = valueOf(place.member, place.at);
    return typeof name === "string" && name.endsWith(".") ? withFinalDot(type, shown) : shown;
  }
  const member = HEXADECIMAL[type];
  if (member === undefined) return shown;
  const digits = valueOf(member, -1);
  return typeof digits === "string" ? withDigits(shown, member, digits) : shown;
}

function withDigits<S extends Shown>(shown: S, member: string, digits: string): S {
  const known = shown.content.slice(shown.content.lastIndexOf(" ") + 1);
  // Digits in several words, or with white space, have no single spelling.
  if (digits === known || digits.toLowerCase() !== known.toLowerCase()) return shown;
  const content = `${shown.content.slice(0, -known.length)}${digits}`;
  return { ...shown, content, data: shown.data === null ? null : { ...shown.data, [member]: digits } };
}

/** The record with the final dot of its name, as in a zone file and in a transfer, where each name is absolute. */
export function withFinalDot<S extends Shown>(type: string, shown: S): S {
  const place = NAMES[type];
  if (place === undefined) return shown;
  const words = shown.content.split(" ");
  const name = words.at(place.at);
  // The root name is a dot already.
  if (name === undefined || name.endsWith(".")) return shown;
  const dotted = `${name}.`;
  const content = words.with(place.at, dotted).join(" ");
  return { ...shown, content, data: shown.data === null ? null : { ...shown.data, [place.member]: dotted } };
}

/** Structured form and priority of RDATA, as a stored record with this content has them. */
export function describedAs(type: string, rdata: Uint8Array, content: string): Pick<ReturnType<typeof describe>, "data" | "priority"> {
  const { data, priority } = keepSpelling(type, describe(type, rdata), { content, data: null });
  return { data, priority };
}
