import { parseCidr } from "#kernel/net/cidr.ts";
import { isMapped, parseIp, readIp } from "#kernel/net/ip.ts";

/** Addresses, blocks and ranges, for frequent lookups. */
export interface AddressSet {
  readonly size: number;
  /** False for a text that is not an address. `::ffff:a.b.c.d` counts as the IPv4 address. */
  has(address: string): boolean;
}

/** The first and last address, 16 bytes each, IPv4 as `::ffff:0:0/96`. */
export interface AddressRange {
  readonly low: Uint8Array;
  readonly high: Uint8Array;
}

/** The addresses that a text names: one, a block, or `first..last`. Undefined for another text. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const dots = text.indexOf("..");
  if (dots !== -1) {
    const first = parseIp(text.slice(0, dots));
    const last = parseIp(text.slice(dots + 2));
    if (first === undefined || last === undefined || first.family !== last.family) return undefined;
    const range = { low: widen(first.bytes), high: widen(last.bytes) };
    return compareBytes(range.low, range.high) > 0 ? undefined : range;
  }
  const cidr = parseCidr(text);
  if (cidr === undefined) return undefined;
  const low = widen(cidr.base.bytes);
  const high = low.slice();
  const prefix = cidr.prefix + (cidr.base.family === 4 ? 96 : 0);
  for (let bit = prefix; bit < 128; bit++) high[bit >> 3] = (high[bit >> 3] ?? 0) | (0x80 >> (bit & 7));
  return { low, high };
}

/** The set of addresses and blocks. Throws RangeError that names the text that is neither. */
export function createAddressSetOf(texts: Iterable<string>): AddressSet {
  const v4: Pair[] = [];
  const v6: AddressRange[] = [];
  for (const text of texts) {
    const number = readIpv4Number(text);
    if (number >= 0) {
      v4.push({ first: number, last: number });
      continue;
    }
    const range = parseAddressRange(text);
    if (range === undefined) throw new RangeError(`not an address or block: ${text}`);
    if (isIpv4Range(range)) v4.push(pairOf(range));
    else v6.push(range);
  }
  return build(v4, v6);
}

export const createAddressSet = (ranges: readonly AddressRange[]): AddressSet =>
  // Families never mix: `::/0` contains no IPv4 address.
  build(
    ranges.filter(isIpv4Range).map(pairOf),
    ranges.filter((range) => !isIpv4Range(range)),
  );

/** IPv4 addresses by their numbers. */
interface Pair {
  readonly first: number;
  readonly last: number;
}

const pairOf = (range: AddressRange): Pair => ({ first: word(range.low, 3), last: word(range.high, 3) });

/**
 * Sorted typed arrays without overlaps: IPv4 by one number, IPv6 by four, so that a lookup is one binary search over
 * contiguous memory and allocates nothing.
 */
function build(pairs: readonly Pair[], ranges: readonly AddressRange[]): AddressSet {
  const v4 = mergePairs(pairs);
  const starts4 = Uint32Array.from(v4, (pair) => pair.first);
  const ends4 = Uint32Array.from(v4, (pair) => pair.last);
  const index4 = indexOf(starts4);
  const v6 = merge(ranges);
  const starts6 = words(v6.map((range) => range.low));
  const ends6 = words(v6.map((range) => range.high));
  return {
    size: v4.length + v6.length,
    has: (text) => {
      const address = readAddress(text);
      if (address.family === 4) return has4(starts4, ends4, index4, address.number);
      return address.family === 6 && has6(starts6, ends6, address.words);
    },
  };
}

function mergePairs(pairs: readonly Pair[]): readonly Pair[] {
  const merged: Pair[] = [];
  for (const pair of pairs.toSorted((a, b) => a.first - b.first)) {
    const last = merged.at(-1);
    if (last === undefined || pair.first > last.last) merged.push(pair);
    else if (pair.last > last.last) merged[merged.length - 1] = { first: last.first, last: pair.last };
  }
  return merged;
}

/** The last parsed address, because rules test one client in many sets in a row. `words` holds it for IPv6 only. */
const known = { text: "", family: 0 as 0 | 4 | 6, number: 0, words: new Uint32Array(4) };
const bytes = new Uint8Array(16);

function readAddress(text: string): Readonly<typeof known> {
  if (text === known.text) return known;
  known.text = text;
  known.number = readIpv4Number(text);
  if (known.number >= 0) {
    known.family = 4;
    return known;
  }
  known.family = readIp(text, bytes);
  if (known.family === 0) return known;
  if (isMapped(bytes)) known.family = 4;
  for (let i = 0; i < 4; i++) known.words[i] = word(bytes, i);
  known.number = known.words[3] ?? 0;
  return known;
}

/** The address as one number; below 0 if the text is not an IPv4 address. */
function readIpv4Number(text: string): number {
  let number = 0;
  let octet = -1;
  let dots = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit === -2) {
      if (octet < 0 || ++dots > 3) return -1;
      number = number * 256 + octet;
      octet = -1;
    } else {
      // `octet === 0` here would be a leading zero.
      if (digit < 0 || digit > 9 || octet === 0) return -1;
      octet = (octet < 0 ? 0 : octet * 10) + digit;
      if (octet > 255) return -1;
    }
  }
  return dots === 3 && octet >= 0 ? number * 256 + octet : -1;
}

/** 16 bytes, one char each, in the order of addresses; undefined if the text is not an address. */
export function addressBytes(text: string): string | undefined {
  return readIp(text, bytes) === 0 ? undefined : String.fromCharCode(...bytes);
}

const word = (from: Uint8Array, at: number): number =>
  (((from[at * 4] ?? 0) << 24) | ((from[at * 4 + 1] ?? 0) << 16) | ((from[at * 4 + 2] ?? 0) << 8) | (from[at * 4 + 3] ?? 0)) >>> 0;

// Large sets are indexed by the first 16 bits of an address, which leaves a handful of ranges to search.
const INDEXED_MIN = 1024;

/** For each first 16 bits the number of ranges that start before them; null for small sets. */
function indexOf(starts: Uint32Array): Uint32Array | null {
  if (starts.length < INDEXED_MIN) return null;
  const index = new Uint32Array(65_537);
  for (const start of starts) index[(start >>> 16) + 1] = (index[(start >>> 16) + 1] ?? 0) + 1;
  for (let i = 1; i < index.length; i++) index[i] = (index[i] ?? 0) + (index[i - 1] ?? 0);
  return index;
}

function has4(starts: Uint32Array, ends: Uint32Array, index: Uint32Array | null, address: number): boolean {
  let from = index === null ? 0 : (index[address >>> 16] ?? 0);
  let to = index === null ? starts.length : (index[(address >>> 16) + 1] ?? 0);
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((starts[middle] ?? 0) <= address) from = middle + 1;
    else to = middle;
  }
  return from > 0 && address <= (ends[from - 1] ?? 0);
}

function has6(starts: Uint32Array, ends: Uint32Array, address: Uint32Array): boolean {
  let from = 0;
  let to = starts.length >> 2;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (compareWords(starts, middle, address) <= 0) from = middle + 1;
    else to = middle;
  }
  return from > 0 && compareWords(ends, from - 1, address) >= 0;
}

function compareWords(table: Uint32Array, row: number, address: Uint32Array): number {
  for (let i = 0; i < 4; i++) {
    const difference = (table[row * 4 + i] ?? 0) - (address[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

const words = (rows: readonly Uint8Array[]): Uint32Array =>
  Uint32Array.from({ length: rows.length * 4 }, (_, i) => word(rows[i >> 2] ?? bytes, i & 3));

const isIpv4Range = (range: AddressRange): boolean => isMapped(range.low) && isMapped(range.high);

function merge(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const merged: AddressRange[] = [];
  // Texts of one char for each byte sort as the bytes do, several times faster.
  const rows = ranges.map((range) => ({ range, key: String.fromCharCode(...range.low) }));
  for (const { range } of rows.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))) {
    const last = merged.at(-1);
    if (last === undefined || compareBytes(range.low, last.high) > 0) merged.push(range);
    else if (compareBytes(range.high, last.high) > 0) merged[merged.length - 1] = { low: last.low, high: range.high };
  }
  return merged;
}

function widen(address: Uint8Array): Uint8Array {
  if (address.length === 16) return address;
  const wide = new Uint8Array(16).fill(0xff, 10, 12);
  wide.set(address, 12);
  return wide;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < 16; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
