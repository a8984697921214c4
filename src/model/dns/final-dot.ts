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

/** Names of these types keep the final dot that they were sent with, because octoDNS compares them with what it sent. */
export function keepFinalDot<S extends Shown>(type: string, shown: S, sent: Shown): S {
  const place = NAMES[type];
  if (place === undefined) return shown;
  const name =
    sent.data === null ? sent.content.trim().split(/\s+/).at(place.at) : (sent.data as Readonly<Record<string, unknown>>)[place.member];
  return typeof name === "string" && name.endsWith(".") ? withFinalDot(type, shown) : shown;
}

/** The same for a record of a zone file or another server, where each name is absolute. */
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
  const { data, priority } = keepFinalDot(type, describe(type, rdata), { content, data: null });
  return { data, priority };
}
