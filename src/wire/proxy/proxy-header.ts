import { formatIp, parseIp } from "#kernel/net/ip.ts";
import { crc32cOf } from "./crc32c.ts";

/** What a balancer says about a connection that it made for somebody else. */
export interface ProxyHeader {
  /** Bytes of the header; the visitor's own begin behind it. */
  readonly length: number;
  /** The visitor's end, its address canonical. Null where the balancer speaks for itself or does not know: then its own end counts. */
  readonly client: { readonly address: string; readonly port: number } | null;
}

/** Why there is no header: more bytes have to come, or none ever makes it right. */
export type NoProxyHeader = "incomplete" | "malformed";

/** Enough for the addresses and every field that balancers are known to add; the format itself would allow 64 KiB. */
export const PROXY_HEADER_BYTES_MAX = 4096;

/** "The maximum line lengths" of version 1: the receiver needs 107 bytes and its final CRLF is among them. */
const LINE_BYTES_MAX = 107;
const SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const LINE_START = Buffer.from("PROXY ", "latin1");

/**
 * Reads the PROXY protocol, version 1 or 2, at the beginning of a connection (haproxy.org, proxy-protocol.txt). Call it
 * again with more bytes while it is incomplete; what is malformed is so already with its first wrong byte.
 */
export function readProxyHeader(buffer: Buffer): ProxyHeader | NoProxyHeader {
  if (startsAs(buffer, SIGNATURE)) return buffer.length < 16 ? "incomplete" : readBinary(buffer);
  return startsAs(buffer, LINE_START) ? readLine(buffer) : "malformed";
}

function startsAs(buffer: Buffer, expected: Buffer): boolean {
  const length = Math.min(buffer.length, expected.length);
  return buffer.subarray(0, length).equals(expected.subarray(0, length));
}

const LINE = /^PROXY (?:TCP(?<family>[46]) (?<source>\S+) (?<destination>\S+) (?<from>\d{1,5}) (?<to>\d{1,5})|UNKNOWN(?: [ -~]*)?)\r\n$/;

function readLine(buffer: Buffer): ProxyHeader | NoProxyHeader {
  const end = buffer.subarray(0, LINE_BYTES_MAX).indexOf("\n") + 1;
  if (end === 0) return buffer.length < LINE_BYTES_MAX ? "incomplete" : "malformed";
  const match = LINE.exec(buffer.toString("latin1", 0, end));
  if (match === null) return "malformed";
  const { family, source = "", destination = "", from = "", to = "" } = match.groups ?? {};
  if (family === undefined) return { length: end, client: null };
  const [address, other] = [parseIp(source), parseIp(destination)];
  if (address === undefined || other === undefined || !isPort(from) || !isPort(to)) return "malformed";
  if (address.family !== Number(family) || other.family !== address.family) return "malformed";
  return { length: end, client: { address: formatIp(address), port: Number(from) } };
}

const isPort = (digits: string): boolean => /^(?:0|[1-9]\d*)$/.test(digits) && Number(digits) <= 65_535;

const LOCAL = 0x20;
const PROXY = 0x21;
/** Bytes of addresses and ports, by family and transport. Datagrams do not come over a connection. */
const ADDRESS_BYTES: Readonly<Record<number, number>> = { 0x00: 0, 0x11: 12, 0x21: 36, 0x31: 216 };

function readBinary(buffer: Buffer): ProxyHeader | NoProxyHeader {
  const command = buffer[12]!;
  const family = buffer[13]!;
  const length = 16 + buffer.readUInt16BE(14);
  if ((command !== LOCAL && command !== PROXY) || length > PROXY_HEADER_BYTES_MAX) return "malformed";
  // A balancer that speaks for itself may fill in what it likes; it is skipped by its length.
  const addressBytes = command === LOCAL ? 0 : ADDRESS_BYTES[family];
  if (addressBytes === undefined || length < 16 + addressBytes) return "malformed";
  if (buffer.length < length) return "incomplete";
  if (command === LOCAL) return { length, client: null };
  if (!areFieldsGood(buffer.subarray(0, length), 16 + addressBytes)) return "malformed";
  if (family !== 0x11 && family !== 0x21) return { length, client: null };
  const [ip, ports] = family === 0x11 ? [4 as const, 24] : [6 as const, 48];
  // Both addresses, then both ports, the visitor's first.
  const bytes = buffer.subarray(16, ip === 4 ? 20 : 32);
  return { length, client: { address: formatIp({ family: ip, bytes }), port: buffer.readUInt16BE(ports) } };
}

const CHECKSUM = 0x03;

/** Type, length and value, one after the other to the very end; a checksum over the header must be right. */
function areFieldsGood(header: Buffer, start: number): boolean {
  let at = start;
  while (at < header.length) {
    if (at + 3 > header.length) return false;
    const end = at + 3 + header.readUInt16BE(at + 1);
    if (end > header.length) return false;
    if (header[at] === CHECKSUM && (end - at !== 7 || header.readUInt32BE(at + 3) !== checksum(header, at + 3))) return false;
    at = end;
  }
  return true;
}

/** Over the whole header, with its own four bytes taken as zero. */
function checksum(header: Buffer, at: number): number {
  const copy = Buffer.from(header);
  copy.fill(0, at, at + 4);
  return crc32cOf(copy);
}
