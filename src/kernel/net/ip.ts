/** An IP address in network byte order: 4 bytes for IPv4, 16 for IPv6. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly bytes: Uint8Array;
}

/**
 * Parses an address; undefined if invalid. IPv4 requires four decimal octets without leading zeros (RFC 6943 §3.1.1
 * describes the risk of other forms); IPv6 follows RFC 4291 §2.2, without a zone identifier.
 */
export function parseIp(text: string): IpAddress | undefined {
  const family = readIp(text, scratch);
  if (family === 0) return undefined;
  return { family, bytes: family === 4 ? scratch.slice(12) : scratch.slice() };
}

/** Canonical text: dotted decimal, or RFC 5952 for IPv6. */
export const formatIp = (address: IpAddress): string => (address.family === 4 ? formatIpv4(address.bytes, 0) : formatIpv6(address.bytes));

/** The canonical text of an address; undefined if the text is not an address. */
export function canonicalIp(text: string): string | undefined {
  const address = parseIp(text);
  return address && formatIp(address);
}

export const isIpv4 = (text: string): boolean => readIp(text, scratch) === 4;
export const isIpv6 = (text: string): boolean => readIp(text, scratch) === 6;
export const isIp = (text: string): boolean => readIp(text, scratch) !== 0;

/** The IPv4 address in `::ffff:a.b.c.d`, as dual-stack sockets report peers; other addresses unchanged. */
export const unmapIp = (address: IpAddress): IpAddress =>
  address.family === 6 && isMapped(address.bytes) ? { family: 4, bytes: address.bytes.slice(12) } : address;

/** Orders IPv4 before IPv6, then by value. */
export function compareIp(a: IpAddress, b: IpAddress): number {
  if (a.family !== b.family) return a.family - b.family;
  for (let i = 0; i < a.bytes.length; i++) {
    const difference = (a.bytes[i] ?? 0) - (b.bytes[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether the 16 bytes at `at` are in `::ffff:0:0/96` (RFC 4291 §2.5.5.2). */
export function isMapped(bytes: Uint8Array, at = 0): boolean {
  for (let i = 0; i < 10; i++) if (bytes[at + i] !== 0) return false;
  return bytes[at + 10] === 0xff && bytes[at + 11] === 0xff;
}

/** Filled by `readIp` and copied immediately. */
const scratch = new Uint8Array(16);

/**
 * Parses an address into 16 bytes, IPv4 as `::ffff:0:0/96`, so that both families compare on one scale. Returns 0 if the
 * text is not an address; `into` is then undefined data.
 */
export function readIp(text: string, into: Uint8Array): 0 | 4 | 6 {
  // 45 characters: eight groups with the last two written as IPv4.
  if (text.length < 2 || text.length > 45) return 0;
  if (text.indexOf(":") !== -1) return readIpv6(text, into) ? 6 : 0;
  if (!readIpv4(text, 0, into, 12)) return 0;
  into.fill(0, 0, 10);
  into[10] = 0xff;
  into[11] = 0xff;
  return 4;
}

function readIpv4(text: string, start: number, into: Uint8Array, at: number): boolean {
  let octets = 0;
  let value = -1;
  for (let i = start; i <= text.length; i++) {
    const digit = i === text.length ? DOT : text.charCodeAt(i);
    if (digit === DOT) {
      if (value < 0 || octets === 4) return false;
      into[at + octets++] = value;
      value = -1;
    } else {
      // `value === 0` here would be a leading zero.
      if (digit < 48 || digit > 57 || value === 0) return false;
      value = (value < 0 ? 0 : value * 10) + digit - 48;
      if (value > 255) return false;
    }
  }
  return octets === 4;
}

const DOT = 46;
const COLON = 58;

function readIpv6(text: string, into: Uint8Array): boolean {
  let at = 0;
  let gap = -1;
  let i = 0;
  if (text.startsWith("::")) {
    gap = 0;
    i = 2;
  }
  while (i < text.length) {
    if (at === 16) return false;
    let end = i;
    let value = 0;
    for (; end < text.length && end - i < 5; end++) {
      const nibble = hexValue(text.charCodeAt(end));
      if (nibble < 0) break;
      value = value * 16 + nibble;
    }
    if (end < text.length && text.charCodeAt(end) === DOT) {
      if (at > 12 || !readIpv4(text, i, into, at)) return false;
      at += 4;
      i = text.length;
      break;
    }
    if (end === i || end - i > 4) return false;
    into[at++] = value >> 8;
    into[at++] = value & 255;
    i = end;
    if (i === text.length) break;
    if (text.charCodeAt(i) !== COLON) return false;
    i++;
    if (text.charCodeAt(i) === COLON) {
      if (gap >= 0) return false;
      gap = at;
      i++;
    } else if (i === text.length) {
      return false;
    }
  }
  if (gap < 0) return at === 16;
  if (at === 16) return false;
  into.copyWithin(16 - (at - gap), gap, at);
  into.fill(0, gap, 16 - (at - gap));
  return true;
}

function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

const formatIpv4 = (bytes: Uint8Array, at: number): string => `${bytes[at]}.${bytes[at + 1]}.${bytes[at + 2]}.${bytes[at + 3]}`;

function formatIpv6(bytes: Uint8Array): string {
  // RFC 5952 §5: mixed notation for a known prefix of embedded IPv4.
  if (isMapped(bytes)) return `::ffff:${formatIpv4(bytes, 12)}`;
  const groups: number[] = [];
  for (let i = 0; i < 16; i += 2) groups.push(((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0));
  const gap = longestZeroRun(groups);
  const text = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(":");
  return gap.length < 2 ? text(0, 8) : `${text(0, gap.start)}::${text(gap.start + gap.length, 8)}`;
}

/** RFC 5952 §4.2.3: the longest run, or the first of equal ones. */
function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
    start += length;
  }
  return best;
}
