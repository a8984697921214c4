import { withoutEnd } from "#kernel/trim.ts";
import { type NameKey, keyOf, LABEL_BYTES_MAX, lowerCaseInto, NAME_BYTES_MAX, nameOfKey, ROOT_KEY } from "./name.ts";

/**
 * Layout of RDATA with names, for the types whose names are lower case in canonical form (RFC 4034 §6.2, without HINFO
 * and NSEC: RFC 6840 §5.1). Numbers are bytes to skip. Types of later RFCs stay unchanged (RFC 3597 §7).
 */
const NAMES_IN_RDATA: ReadonlyMap<number, readonly ("name" | "string" | number)[]> = new Map([
  [2, ["name"]], // NS
  [3, ["name"]], // MD
  [4, ["name"]], // MF
  [5, ["name"]], // CNAME
  [6, ["name", "name"]], // SOA
  [7, ["name"]], // MB
  [8, ["name"]], // MG
  [9, ["name"]], // MR
  [12, ["name"]], // PTR
  [14, ["name", "name"]], // MINFO
  [15, [2, "name"]], // MX
  [17, ["name", "name"]], // RP
  [18, [2, "name"]], // AFSDB
  [21, [2, "name"]], // RT
  [26, [2, "name", "name"]], // PX
  [33, [6, "name"]], // SRV
  [35, [4, "string", "string", "string", "name"]], // NAPTR
  [36, [2, "name"]], // KX
  [39, ["name"]], // DNAME
  [46, [18, "name"]], // RRSIG
] as const);

/** RDATA in the form that is signed and compared. RDATA that does not match its type's layout stays unchanged. */
export function canonicalRdata(type: number, rdata: Uint8Array): Uint8Array {
  const layout = NAMES_IN_RDATA.get(type);
  if (layout === undefined) return rdata;
  const out = Buffer.from(rdata);
  let at = 0;
  for (const part of layout) {
    if (typeof part === "number") at += part;
    else if (part === "string") at += 1 + (rdata[at] ?? 0);
    else {
      const end = nameEnd(rdata, at);
      if (end === undefined) return rdata;
      lowerCaseInto(out.subarray(at), rdata, at, end - at);
      at = end;
    }
  }
  return out;
}

function nameEnd(bytes: Uint8Array, start: number): number | undefined {
  for (let at = start; at < bytes.length;) {
    const label = bytes[at] as number;
    at += label + 1;
    if (label === 0) return at;
  }
  return undefined;
}

/** The set's values as they are signed: canonical, sorted, without duplicates (RFC 4034 §6.3). */
export function canonicalRdatas(type: number, rdatas: readonly Uint8Array[]): Uint8Array[] {
  const sorted = rdatas.map((rdata) => canonicalRdata(type, rdata)).sort(Buffer.compare);
  return sorted.filter((rdata, i) => i === 0 || Buffer.compare(rdata, sorted[i - 1] as Uint8Array) !== 0);
}

/**
 * A text whose order as a string is the canonical order of names (RFC 4034 §6.1): labels from the root down, and a name
 * before the names below it.
 */
export function canonicalOrder(key: NameKey): string {
  let order = "";
  for (let at = 0; key.charCodeAt(at) !== 0;) {
    const end = at + 1 + key.charCodeAt(at);
    // A label ends with a zero, which sorts before all other bytes; zeros and ones inside it are escaped.
    order = `${apart(key.slice(at + 1, end))}\0${order}`;
    at = end;
  }
  return order;
}

// oxlint-disable-next-line no-control-regex
const LOWEST_BYTES = /[\0\x01]/g;

const apart = (label: string): string =>
  label.search(LOWEST_BYTES) < 0 ? label : label.replace(LOWEST_BYTES, (byte) => (byte === "\0" ? "\x01\x01" : "\x01\x02"));

export const compareCanonical = (a: NameKey, b: NameKey): number => {
  const [first, second] = [canonicalOrder(a), canonicalOrder(b)];
  return first < second ? -1 : Number(first > second);
};

/** Number of a name's labels, without the root and without the asterisk of a wildcard (RFC 4034 §3.1.3). */
export function signedLabels(key: NameKey): number {
  let count = 0;
  for (let at = 0; key.charCodeAt(at) !== 0; at += key.charCodeAt(at) + 1) count += 1;
  return key.startsWith("\u0001*") ? count - 1 : count;
}

/** The next name in canonical order, or the apex if it is the last of the zone (RFC 4471 §3.1.2). */
export function successor(key: NameKey, apex: NameKey): NameKey {
  if (key.length + 2 <= NAME_BYTES_MAX) return `\u0001\0${key}`;
  for (let name = key; name !== apex && name !== ROOT_KEY; name = name.slice(name.charCodeAt(0) + 1)) {
    const length = name.charCodeAt(0);
    const rest = name.slice(length + 1);
    if (length < LABEL_BYTES_MAX && name.length < NAME_BYTES_MAX)
      return `${String.fromCharCode(length + 1)}${name.slice(1, length + 1)}\0${rest}`;
    const label = incremented(name.slice(1, length + 1));
    if (label !== "") return `${String.fromCharCode(label.length)}${label}${rest}`;
  }
  return apex;
}

/** The next label that is not longer; empty after the last one. */
function incremented(label: string): string {
  const kept = withoutEnd(label, "\xff");
  if (kept === "") return "";
  const last = kept.charCodeAt(kept.length - 1) + 1;
  // Upper-case letters sort as lower-case ones, so the byte after @ is the bracket.
  return kept.slice(0, -1) + String.fromCharCode(last === 0x41 ? 0x5b : last);
}

/** A name in canonical form. */
export const canonicalName = (name: Uint8Array): Buffer => nameOfKey(keyOf(name));
