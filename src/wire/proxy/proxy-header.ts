import { formatIp, parseIp } from "#kernel/net/ip.ts";
import { crc32cOf } from "./crc32c.ts";

/** A load balancer's description of a connection that it forwards. */
export interface ProxyHeader {
  /** Length of the header in bytes; the visitor's bytes follow. */
  readonly length: number;
  /**
   * The visitor's canonical address and port. Null if the balancer connects on its own behalf or does not know them: then
   * its own address counts.
   */
  readonly client: { readonly address: string; readonly port: number } | null;
}

/** Why no header was read: more bytes are needed, or the bytes are not valid. */
export type NoProxyHeader = "incomplete" | "malformed";

/** Enough for the addresses and all fields that balancers are known to add; the format allows 64 KiB. */
export const PROXY_HEADER_BYTES_MAX = 4096;

/** "The maximum line lengths" of version 1: 107 bytes, including the final CRLF. */
const LINE_BYTES_MAX = 107;
const SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const LINE_START = Buffer.from("PROXY ", "latin1");

/**
 * Reads the PROXY protocol, version 1 or 2, at the start of a connection (haproxy.org, proxy-protocol.txt). If
 * incomplete, call again with more bytes; malformed input is detected at its first wrong byte.
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
/** Bytes of addresses and ports, by family and transport. Datagrams cannot arrive over a connection. */
const ADDRESS_BYTES: Readonly<Record<number, number>> = { 0x00: 0, 0x11: 12, 0x21: 36, 0x31: 216 };

function readBinary(buffer: Buffer): ProxyHeader | NoProxyHeader {
  const command = buffer[12]!;
  const family = buffer[13]!;
  const length = 16 + buffer.readUInt16BE(14);
  if ((command !== LOCAL && command !== PROXY) || length > PROXY_HEADER_BYTES_MAX) return "malformed";
  // A balancer on its own behalf may send any content, which is skipped.
  const addressBytes = command === LOCAL ? 0 : ADDRESS_BYTES[family];
  if (addressBytes === undefined || length < 16 + addressBytes) return "malformed";
  if (buffer.length < length) return "incomplete";
  if (command === LOCAL) return { length, client: null };
  if (!areFieldsGood(buffer.subarray(0, length), 16 + addressBytes)) return "malformed";
  if (family !== 0x11 && family !== 0x21) return { length, client: null };
  const [ip, ports] = family === 0x11 ? [4 as const, 24] : [6 as const, 48];
  // Both addresses, then both ports; the visitor's come first.
  const bytes = buffer.subarray(16, ip === 4 ? 20 : 32);
  return { length, client: { address: formatIp({ family: ip, bytes }), port: buffer.readUInt16BE(ports) } };
}

const CHECKSUM = 0x03;

/** Validates type-length-value fields up to the end, and the checksum if there is one. */
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

/** Checksum of the whole header, with its own four bytes taken as zero. */
function checksum(header: Buffer, at: number): number {
  const copy = Buffer.from(header);
  copy.fill(0, at, at + 4);
  return crc32cOf(copy);
}
