import { formatIp, type IpAddress, parseIp, readIp, unmapIp } from "./ip.ts";

/** An address block; the bits of `base` below the prefix are zero. */
export interface Cidr {
  readonly base: IpAddress;
  /** 0 to 32 for IPv4, 0 to 128 for IPv6. */
  readonly prefix: number;
}

/** A set of address blocks with fast lookup. */
export interface CidrSet {
  readonly size: number;
  /** False for text that is not an address. `::ffff:a.b.c.d` counts as the IPv4 address. */
  has(address: string): boolean;
}

/**
 * Parses a block; undefined if invalid. A plain address is a block of one; bits below the prefix are cleared, so
 * `192.0.2.7/24` is `192.0.2.0/24`.
 */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf("/");
  const address = parseIp(slash === -1 ? text : text.slice(0, slash));
  if (!address) return undefined;
  const bits = address.bytes.length * 8;
  if (slash === -1) return { base: address, prefix: bits };
  const digits = text.slice(slash + 1);
  if (!/^(0|[1-9]\d{0,2})$/.test(digits) || Number(digits) > bits) return undefined;
  const prefix = Number(digits);
  return { base: { family: address.family, bytes: bounds(address.bytes, prefix).low }, prefix };
}

export const formatCidr = (cidr: Cidr): string => `${formatIp(cidr.base)}/${cidr.prefix}`;

/** Converts a block within `::ffff:0:0/96` to its IPv4 block; returns others unchanged. */
export function unmapCidr(cidr: Cidr): Cidr {
  const base = unmapIp(cidr.base);
  return base === cidr.base || cidr.prefix < MAPPED_BITS ? cidr : { base, prefix: cidr.prefix - MAPPED_BITS };
}

/** RFC 4291 §2.5.5.2. */
const MAPPED_BITS = 96;

/** Whether the block contains the address; the families never match each other. */
export function cidrContains(cidr: Cidr, address: IpAddress): boolean {
  if (cidr.base.family !== address.family) return false;
  for (let i = 0, left = cidr.prefix; left > 0; i++, left -= 8) {
    const mask = left >= 8 ? 0xff : 0xff00 >> left;
    if ((((cidr.base.bytes[i] ?? 0) ^ (address.bytes[i] ?? 0)) & mask) !== 0) return false;
  }
  return true;
}

/**
 * Creates a set of blocks. Throws RangeError with the text of an invalid one. Merges overlapping blocks into sorted
 * ranges, so a lookup is one binary search and does not allocate.
 */
export function createCidrSet(texts: Iterable<string>): CidrSet {
  const ranges: Range[] = [];
  for (const text of texts) {
    const cidr = parseCidr(text);
    if (!cidr) throw new RangeError(`not an address or CIDR block: ${text}`);
    const { low, high } = bounds(cidr.base.bytes, cidr.prefix);
    ranges.push({ low: widen(low), high: widen(high) });
  }
  const merged = mergeRanges(ranges);
  const address = new Uint8Array(16);
  return {
    size: merged.length,
    has: (text) => merged.length > 0 && readIp(text, address) !== 0 && findRange(merged, address),
  };
}

interface Range {
  readonly low: Uint8Array;
  readonly high: Uint8Array;
}

/** The first and last address of the block. */
function bounds(bytes: Uint8Array, prefix: number): Range {
  const low = bytes.slice();
  const high = bytes.slice();
  for (let i = 0; i < bytes.length; i++) {
    const kept = Math.min(8, Math.max(0, prefix - i * 8));
    const hostBits = 0xff >> kept;
    low[i] = (bytes[i] ?? 0) & ~hostBits;
    high[i] = (bytes[i] ?? 0) | hostBits;
  }
  return { low, high };
}

/** IPv4 as `::ffff:0:0/96`, as `readIp` writes it. */
function widen(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 16) return bytes;
  const wide = new Uint8Array(16).fill(0xff, 10, 12);
  wide.set(bytes, 12);
  return wide;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function mergeRanges(ranges: readonly Range[]): readonly Range[] {
  const merged: Range[] = [];
  for (const range of ranges.toSorted((a, b) => compareBytes(a.low, b.low))) {
    const last = merged.at(-1);
    if (!last || compareBytes(range.low, last.high) > 0) merged.push(range);
    else if (compareBytes(range.high, last.high) > 0) merged[merged.length - 1] = { low: last.low, high: range.high };
  }
  return merged;
}

function findRange(ranges: readonly Range[], address: Uint8Array): boolean {
  let from = 0;
  let to = ranges.length - 1;
  while (from <= to) {
    const middle = (from + to) >> 1;
    const range = ranges[middle];
    if (!range) return false;
    if (compareBytes(address, range.low) < 0) to = middle - 1;
    else if (compareBytes(address, range.high) > 0) from = middle + 1;
    else return true;
  }
  return false;
}
