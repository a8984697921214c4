import { parseIp } from "#kernel/net/ip.ts";

export type MmdbValue = string | number | boolean | readonly MmdbValue[] | { readonly [name: string]: MmdbValue };

/** A database in MaxMind's format (MaxMind DB File Format Specification 2.0) of these networks; later ones are within earlier ones. */
export function buildMmdb(networks: Readonly<Record<string, MmdbValue>>, recordSize: 24 | 28 | 32 = 28): Buffer {
  const data: Buffer[] = [];
  let dataBytes = 0;
  // Two records per node: a node number, data as a negative offset less one, or null for no data.
  const nodes: [number | null, number | null][] = [[null, null]];
  for (const [network, value] of Object.entries(networks)) {
    const place = -dataBytes - 1;
    const encoded = encode(value);
    data.push(encoded);
    dataBytes += encoded.length;
    insert(nodes, network, place);
  }
  const tree = Buffer.concat(nodes.map((node) => writeNode(node, nodes.length, recordSize)));
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    database_type: "Test",
    description: { en: "for tests" },
    ip_version: 6,
    languages: ["en"],
    node_count: nodes.length,
    record_size: recordSize,
  });
  return Buffer.concat([tree, Buffer.alloc(16), ...data, Buffer.from("\xab\xcd\xefMaxMind.com", "latin1"), metadata]);
}

function insert(nodes: [number | null, number | null][], network: string, place: number): void {
  const [address = "", length = ""] = network.split("/");
  const ip = parseIp(address);
  if (ip === undefined) throw new Error(`${network} is no network`);
  const isOld = ip.family === 4;
  const bytes = isOld ? [...Array.from({ length: 12 }, () => 0), ...ip.bytes] : [...ip.bytes];
  const bits = Number(length) + (isOld ? 96 : 0);
  let at = 0;
  for (let depth = 0; depth < bits; depth++) {
    const side = ((bytes[depth >> 3]! >> (7 - (depth & 7))) & 1) as 0 | 1;
    const node = nodes[at]!;
    if (depth === bits - 1) {
      node[side] = place;
      return;
    }
    const next = node[side];
    if (next === null || next < 0) {
      // The wider network's data applies to the rest of it.
      node[side] = nodes.length;
      nodes.push([next, next]);
    }
    at = node[side]!;
  }
}

function writeNode(node: readonly [number | null, number | null], count: number, recordSize: 24 | 28 | 32): Buffer {
  const [left, right] = node.map((record) => (record === null ? count : record < 0 ? count + 16 + (-record - 1) : record)) as [
    number,
    number,
  ];
  const bytes = Buffer.alloc(recordSize / 4);
  if (recordSize === 24) {
    bytes.writeUIntBE(left, 0, 3);
    bytes.writeUIntBE(right, 3, 3);
  } else if (recordSize === 28) {
    bytes.writeUIntBE(left & 0xffffff, 0, 3);
    bytes[3] = ((left >>> 24) << 4) | (right >>> 24);
    bytes.writeUIntBE(right & 0xffffff, 4, 3);
  } else {
    bytes.writeUInt32BE(left, 0);
    bytes.writeUInt32BE(right, 4);
  }
  return bytes;
}

const STRING = 2;
const DOUBLE = 3;
const UINT32 = 6;
const MAP = 7;
const ARRAY = 11;
const BOOLEAN = 14;

function encode(value: MmdbValue): Buffer {
  if (typeof value === "string") return Buffer.concat([control(STRING, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === "boolean") return control(BOOLEAN, value ? 1 : 0);
  if (typeof value === "number") {
    const bytes = Buffer.alloc(Number.isInteger(value) ? 4 : 8);
    if (Number.isInteger(value)) bytes.writeUInt32BE(value);
    else bytes.writeDoubleBE(value);
    return Buffer.concat([control(Number.isInteger(value) ? UINT32 : DOUBLE, bytes.length), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([control(ARRAY, value.length), ...(value as readonly MmdbValue[]).map(encode)]);
  const members = Object.entries(value);
  return Buffer.concat([control(MAP, members.length), ...members.flatMap(([name, member]) => [encode(name), encode(member)])]);
}

function control(type: number, size: number): Buffer {
  const [low, more] = size < 29 ? [size, Buffer.alloc(0)] : [29, Buffer.from([size - 29])];
  return type < 8 ? Buffer.concat([Buffer.from([(type << 5) | low]), more]) : Buffer.concat([Buffer.from([low, type - 7]), more]);
}
