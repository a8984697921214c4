import { formatIp, parseIp } from "#kernel/net/ip.ts";
import { RdataError, WireError } from "./errors.ts";
import type { FieldCodec } from "./field-codecs.ts";
import { type DnsName, formatName, lowerCaseInto, type NameContext } from "./name.ts";
import { WireReader } from "./wire-reader.ts";
import { decoded, Words } from "./words.ts";

/** With the final dot: no `$ORIGIN` follows it, in API content neither. */
const named = (name: Uint8Array): string => (name.length === 1 ? "." : `${formatName(name)}.`);
const ipv4 = (bytes: Uint8Array): string => formatIp({ family: 4, bytes });
const ipv6 = (bytes: Uint8Array): string => formatIp({ family: 6, bytes });
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 0xff);

interface Format {
  /**
   * Throws WireError for bytes that the type does not have, and so is the check of what other servers send. Undefined for bytes that the
   * type's text cannot express: they are shown by number (RFC 3597 §5).
   */
  show(reader: WireReader): readonly string[] | undefined;
  parse(words: Words): Uint8Array;
}

/** A type of which a value depends on one before it: the record is one field, whose value is its RDATA. */
const whole = ({ show, parse }: Format): FieldCodec<Buffer> => {
  const shown = (rdata: Uint8Array): string =>
    show(new WireReader(rdata, { pointers: false }))
      ?.filter((word) => word !== "")
      .join(" ") ?? `\\# ${rdata.length} ${Buffer.from(rdata).toString("hex")}`;
  const read = (text: readonly string[], names: NameContext): Buffer => {
    const words = new Words(text, names);
    const rdata = Buffer.from(parse(words));
    if (!words.done) throw new RdataError("is followed by more text than the type has");
    return rdata;
  };
  return {
    greedy: true,
    read: (reader) => {
      const rdata = Buffer.from(reader.rest());
      const inside = new WireReader(rdata, { pointers: false });
      show(inside);
      if (!inside.done) throw new WireError("trailing_bytes");
      return rdata;
    },
    bytes: (value) => value,
    parse: (tokens, names) =>
      read(
        tokens.map(({ raw }) => raw),
        names,
      ),
    format: shown,
    fromData: (value, names) => read(typeof value === "string" ? value.split(/\s+/) : [], names),
    toData: shown,
  };
};

const invalid = (): WireError => new WireError("bad_rdata");

/** RFC 3123 §4, §5: address prefixes, each without the zero bytes at its end: `!1:192.0.2.0/25`. */
export const addressPrefixes = whole({
  show: (reader) => {
    const items: string[] = [];
    let isOther = false;
    while (!reader.done) {
      const family = reader.u16();
      const prefix = reader.u8();
      const length = reader.u8();
      const size = SIZES[family];
      const bytes = reader.take(length & 0x7f);
      if (bytes.at(-1) === 0) throw invalid();
      if (size === undefined) isOther = true;
      if (size === undefined) continue;
      if (bytes.length > size || prefix > size * 8) throw invalid();
      const address = Buffer.concat([bytes, Buffer.alloc(size - bytes.length)]);
      items.push(`${length > 0x7f ? "!" : ""}${family}:${size === 4 ? ipv4(address) : ipv6(address)}/${prefix}`);
    }
    return isOther ? undefined : items;
  },
  parse: (words) =>
    Buffer.concat(
      words.left().map((word) => {
        const [, not = "", family = "", address = "", prefix = ""] = /^(!?)([12]):([0-9A-Fa-f:.]+)\/(\d{1,3})$/.exec(word) ?? [];
        const size = SIZES[Number(family)] ?? 0;
        const parsed = parseIp(address);
        if (parsed?.bytes.length !== size || size === 0 || Number(prefix) > size * 8)
          throw new RdataError("must be prefixes such as 1:192.0.2.0/24 or !2:2001:db8::/32");
        const used = parsed.bytes.findLastIndex((byte) => byte !== 0) + 1;
        return Buffer.concat([
          u16(Number(family)),
          Buffer.of(Number(prefix), used | (not === "" ? 0 : 0x80)),
          parsed.bytes.subarray(0, used),
        ]);
      }),
    ),
});
const SIZES: Readonly<Record<number, 4 | 16>> = { 1: 4, 2: 16 };

/** The gateway of IPSECKEY (RFC 4025 §2.3) and the relay of AMTRELAY (RFC 8777 §4.2.3), by its kind. */
function gatewayBytes(reader: WireReader, kind: number): Uint8Array {
  if (kind > 3) throw invalid();
  return kind === 3 ? reader.name() : reader.take([0, 4, 16][kind] as number);
}

const gatewayText = (kind: number, gateway: Uint8Array): string => [() => ".", ipv4, ipv6, named][kind]?.(gateway) ?? "";

function gatewayOf(words: Words, kind: number, what: string): Uint8Array {
  if (kind === 0) {
    if (words.next(what) !== ".") throw new RdataError(`must have a dot as ${what} of type 0`);
    return Buffer.alloc(0);
  }
  if (kind === 3) return words.name(what);
  return words.address(what, kind === 1 ? 4 : 6);
}

/** RFC 4025 §3. */
export const ipsecKey = whole({
  show: (reader) => {
    const [precedence, kind, algorithm] = [reader.u8(), reader.u8(), reader.u8()];
    return [String(precedence), String(kind), String(algorithm), gatewayText(kind, gatewayBytes(reader, kind)), base64(reader.rest())];
  },
  parse: (words) => {
    const head = [words.number("precedence", 255), words.number("gateway type", 3), words.number("algorithm", 255)] as const;
    return Buffer.concat([Buffer.of(...head), gatewayOf(words, head[1], "gateway"), words.rest("public key", "base64")]);
  },
});

/** RFC 8777 §4.3. */
export const amtRelay = whole({
  show: (reader) => {
    const [precedence, kind] = [reader.u8(), reader.u8()];
    const type = kind & 0x7f;
    return [String(precedence), String(kind >> 7), String(type), gatewayText(type, gatewayBytes(reader, type))];
  },
  parse: (words) => {
    const [precedence, discovery, type] = [words.number("precedence", 255), words.number("discovery bit", 1), words.number("type", 3)];
    return Buffer.concat([Buffer.of(precedence, (discovery << 7) | type), gatewayOf(words, type, "relay")]);
  },
});

/** RFC 8005 §6: the algorithm, the identity tag, the key, and rendezvous servers. */
export const hostIdentity = whole({
  show: (reader) => {
    const [tagLength, algorithm, keyLength] = [reader.u8(), reader.u8(), reader.u16()];
    if (tagLength === 0 || keyLength === 0) throw invalid();
    const words = [String(algorithm), Buffer.from(reader.take(tagLength)).toString("hex"), base64(reader.take(keyLength))];
    while (!reader.done) words.push(named(reader.name()));
    return words;
  },
  parse: (words) => {
    const [algorithm, tag, key] = [words.number("algorithm", 255), words.encoded("identity tag", "hex"), words.encoded("key", "base64")];
    if (tag.length === 0 || tag.length > 255 || key.length === 0)
      throw new RdataError("must have an identity tag of up to 255 bytes and a key");
    const servers: Uint8Array[] = [];
    while (!words.done) servers.push(words.name("server"));
    return Buffer.concat([Buffer.of(tag.length, algorithm), u16(key.length), tag, key, ...servers]);
  },
});

/** RFC 2874 §3: the last bytes of an address, and the name that has the first bits if there are any. */
export const addressSuffix = whole({
  show: (reader) => {
    const prefix = reader.u8();
    if (prefix > 128) throw invalid();
    const bytes = reader.take(16 - (prefix >> 3));
    const address = prefix === 128 ? "" : ipv6(Buffer.concat([Buffer.alloc(16 - bytes.length), bytes]));
    return [String(prefix), address, prefix === 0 ? "" : named(reader.name())];
  },
  parse: (words) => {
    const prefix = words.number("prefix length", 128);
    const address = prefix === 128 ? Buffer.alloc(16) : Buffer.from(words.address("address", 6));
    const from = prefix >> 3;
    if (from < 16) address[from] = (address[from] as number) & (0xff >> (prefix & 7));
    return Buffer.concat([
      Buffer.of(prefix),
      address.subarray(from),
      prefix === 0 ? Buffer.alloc(0) : lowerCase(words.name("prefix name")),
    ]);
  },
});

/** As it is signed (RFC 4034 §6.2): the place of the name in the bytes varies. */
function lowerCase(name: DnsName): Uint8Array {
  const lower = Buffer.alloc(name.length);
  lowerCaseInto(lower, name, 0, name.length);
  return lower;
}

/** RFC 1706 §7: hexadecimal digits after `0x`, with dots anywhere. */
export const networkAddress = whole({
  show: (reader) => {
    const bytes = reader.rest();
    if (bytes.length === 0) throw invalid();
    return [`0x${bytes.toString("hex")}`];
  },
  parse: (words) => {
    const word = words.next("address");
    const bytes = /^0x/i.test(word) ? decoded(word.slice(2).replaceAll(".", ""), "address", "hex") : Buffer.alloc(0);
    if (bytes.length === 0) throw new RdataError("must be hexadecimal digits after 0x");
    return bytes;
  },
});

const PROTOCOLS: Readonly<Record<string, number>> = { ICMP: 1, TCP: 6, UDP: 17 };

/** RFC 1035 §3.4.2: an address, a protocol, and the ports that have a service. */
export const wellKnownServices = whole({
  show: (reader) => {
    const head = [ipv4(reader.take(4)), String(reader.u8())];
    const bits = reader.rest();
    if (bits.length > PORT_BYTES_MAX) throw invalid();
    const ports = Array.from({ length: bits.length * 8 }, (_, port) => port).filter(
      (port) => ((bits[port >> 3] as number) & (0x80 >> (port & 7))) !== 0,
    );
    return [...head, ...ports.map(String)];
  },
  parse: (words) => {
    const address = words.address("address", 4);
    const protocol = words.next("protocol").toUpperCase();
    const number = PROTOCOLS[protocol] ?? (/^\d{1,3}$/.test(protocol) ? Number(protocol) : 256);
    if (number > 255) throw new RdataError("must have TCP, UDP or a number up to 255 as protocol");
    const ports: number[] = [];
    while (!words.done) ports.push(words.number("port", 65_535));
    const last = ports.reduce((most, port) => Math.max(most, port), -1);
    const bits = Buffer.alloc(last < 0 ? 0 : (last >> 3) + 1);
    for (const port of ports) bits[port >> 3] = (bits[port >> 3] as number) | (0x80 >> (port & 7));
    return Buffer.concat([address, Buffer.of(number), bits]);
  },
});
const PORT_BYTES_MAX = 8192;

/** Data of DOA: base64, or a hyphen where it is empty. */
export const objectData = whole({
  show: (reader) => {
    const data = reader.rest();
    return [data.length === 0 ? "-" : base64(data)];
  },
  parse: (words) => {
    const all = words.left().join("");
    return all === "-" ? Buffer.alloc(0) : decoded(all, "data", "base64");
  },
});

/** A key or data that may be empty. */
export const optionalBase64 = whole({
  show: (reader) => [base64(reader.rest())],
  parse: (words) => words.rest("data", "base64"),
});
