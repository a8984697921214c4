import { fc } from "./property.ts";
import * as codecs from "#wire/dns/field-codecs.ts";
import { location } from "#wire/dns/location.ts";
import { RECORD_TYPES } from "#wire/dns/record-types.ts";
import { timestamp } from "#wire/dns/dnssec-codecs.ts";
import { objectData, optionalBase64 } from "#wire/dns/whole-record-codecs.ts";
import { serviceParams } from "#wire/dns/service-params.ts";
import { typeBitmap } from "#wire/dns/type-bitmap.ts";

const bytes = (minLength: number, maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ minLength, maxLength }).map((part) => Buffer.from(part));
const number = (octets: number): fc.Arbitrary<Buffer> => bytes(octets, octets);
const counted = (part: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> => part.map((inner) => Buffer.concat([Buffer.of(inner.length), inner]));
const letters = fc.stringMatching(/^[A-Za-z0-9]{1,8}$/).map((word) => Buffer.from(word));
const label = counted(fc.oneof(letters, bytes(1, 63)));
const name = fc.array(label, { maxLength: 3 }).map((labels) => Buffer.concat([...labels, Buffer.of(0)]));

const word = (value: number): Buffer => {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
};
const extent = fc
  .tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }))
  .map(([digit, power]) => (digit === 0 ? 0 : digit * 16 + power));
const angle = (degrees: number): fc.Arbitrary<Buffer> =>
  fc.integer({ min: -degrees * 3_600_000, max: degrees * 3_600_000 }).map((value) => word(value + 2 ** 31));
const place = fc
  .tuple(extent, extent, extent, angle(90), angle(180), number(4))
  .map(([size, horizontal, vertical, ...rest]) => Buffer.concat([Buffer.of(0, size, horizontal, vertical), ...rest]));

const list = (item: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => Buffer.concat(items));
/** By number; unlisted types have any bytes. */
const PARAMS: Readonly<Record<number, fc.Arbitrary<Buffer>>> = {
  1: list(counted(bytes(1, 12))),
  3: number(2),
  4: list(number(4)),
  5: bytes(4, 12).map((inner) => Buffer.concat([Buffer.of(0, inner.length), inner])),
  6: list(number(16)),
  7: fc.constant(Buffer.from("/dns-query{?dns}")),
  8: fc.constant(Buffer.alloc(0)),
};
const params = fc
  .uniqueArray(fc.constantFrom(1, 3, 4, 5, 6, 7, 8, 9, 667, 65_534), { maxLength: 6 })
  .chain((keys) =>
    fc
      .tuple(...keys.toSorted((a, b) => a - b).map((key) => (PARAMS[key] ?? bytes(0, 8)).map((value) => ({ key, value }))))
      .map((pairs) =>
        Buffer.concat(pairs.flatMap(({ key, value }) => [Buffer.of(key >> 8, key & 255, value.length >> 8, value.length & 255), value])),
      ),
  );

const types = fc.array(fc.integer({ min: 1, max: 65_535 }), { maxLength: 5 }).map(typeBitmap);
const codecOf = (type: string, key: string): unknown => RECORD_TYPES[type]?.fields.find((field) => field.key === key)?.codec;

/** Wire bytes of each kind of field. */
const FIELDS: ReadonlyMap<unknown, fc.Arbitrary<Buffer>> = new Map<unknown, fc.Arbitrary<Buffer>>([
  [codecs.u8, number(1)],
  [codecs.u16, number(2)],
  [codecs.u32, number(4)],
  [codecs.certificateType, number(2)],
  [codecs.keyAlgorithm, number(1)],
  [codecs.ipv4, number(4)],
  [codecs.ipv6, number(16)],
  [codecs.name, name],
  [codecs.characterString, counted(bytes(0, 40))],
  [codecs.propertyTag, counted(letters)],
  [codecs.characterStrings, list(counted(bytes(0, 255)))],
  [codecs.text, bytes(0, 60)],
  [codecs.eui48, bytes(6, 6)],
  [codecs.eui64, bytes(8, 8)],
  [codecs.hex, bytes(1, 60)],
  [codecs.base64, bytes(1, 60)],
  [codecs.notifyScheme, number(1)],
  [codecs.groups64, number(8)],
  [objectData, bytes(0, 40)],
  [optionalBase64, bytes(0, 40)],
  [serviceParams, params],
  [location, place],
  [timestamp, number(4)],
  [codecOf("RRSIG", "type_covered"), number(2)],
  [codecOf("NSEC", "types"), types],
  [codecOf("CSYNC", "types"), types],
  [codecOf("DSYNC", "covered"), number(2)],
]);

const sized = (lengths: Readonly<Record<number, number>>, before: number): fc.Arbitrary<Buffer> =>
  fc
    .tuple(number(before), fc.oneof(fc.constantFrom(...Object.keys(lengths).map(Number)), fc.integer({ min: 5, max: 255 })))
    .chain(([start, kind]) => {
      const [min, max] = lengths[kind] === undefined ? [1, 60] : [lengths[kind], lengths[kind]];
      return bytes(min, max).map((end) => Buffer.concat([start, Buffer.of(kind), end]));
    });
const substitution = fc.constantFrom("", "!^.*$!sip:info@example.com!", "/(a)(b\\/)/\\2/i", "!x!!ii").map((regex) => Buffer.from(regex));
const service = fc.tuple(number(4), counted(letters), counted(letters), counted(substitution), name).map((parts) => Buffer.concat(parts));

const joined = (...parts: readonly fc.Arbitrary<Buffer>[]): fc.Arbitrary<Buffer> => fc.tuple(...parts).map((all) => Buffer.concat(all));
const short = (value: number): Buffer => Buffer.of(value >> 8, value & 255);
const unpadded = (most: number): fc.Arbitrary<Buffer> => bytes(0, most).filter((part) => part.at(-1) !== 0);
const prefixes = (family: number, most: number): fc.Arbitrary<Buffer> =>
  fc
    .tuple(fc.integer({ min: 0, max: most * 8 }), fc.boolean(), unpadded(most))
    .map(([prefix, not, part]) => Buffer.concat([short(family), Buffer.of(prefix, part.length | (not ? 128 : 0)), part]));
const GATEWAYS = [fc.constant(Buffer.alloc(0)), number(4), number(16), name] as const;
const gateway = fc.integer({ min: 0, max: 3 }).chain((kind) => GATEWAYS[kind]!.map((place) => ({ kind, place })));
const lowerName = name.filter((whole) => !/[A-Z]/.test(whole.toString("latin1")));
const suffix = fc.integer({ min: 0, max: 128 }).chain((prefix) =>
  fc.tuple(bytes(16 - (prefix >> 3), 16 - (prefix >> 3)), lowerName).map(([part, rest]) => {
    if (part.length > 0) part[0] = part[0]! & (255 >> (prefix & 7));
    return Buffer.concat([Buffer.of(prefix), part, ...(prefix === 0 ? [] : [rest])]);
  }),
);
const keyed = fc
  .tuple(fc.boolean(), number(2), bytes(1, 40))
  .map(([has, rest, key]) => Buffer.concat([Buffer.of(has ? 1 : 0xc0, 0), rest, ...(has ? [key] : [])]));

/** Types whose values depend on each other. */
const WHOLE: Readonly<Record<string, fc.Arbitrary<Buffer>>> = {
  DS: sized({ 1: 20, 2: 32, 3: 32, 4: 48 }, 3),
  SSHFP: sized({ 1: 20, 2: 32 }, 1),
  NAPTR: service,
  KEY: keyed,
  RKEY: keyed,
  WKS: joined(number(5), unpadded(20)),
  NSAP: bytes(1, 20),
  A6: suffix,
  APL: fc.array(fc.oneof(prefixes(1, 4), prefixes(2, 16)), { minLength: 1, maxLength: 4 }).map((all) => Buffer.concat(all)),
  IPSECKEY: fc
    .tuple(number(1), number(1), gateway, bytes(0, 40))
    .map(([precedence, algorithm, { kind, place }, key]) => Buffer.concat([precedence, Buffer.of(kind), algorithm, place, key])),
  AMTRELAY: fc
    .tuple(number(1), fc.boolean(), gateway)
    .map(([precedence, discovery, { kind, place }]) => Buffer.concat([precedence, Buffer.of(kind | (discovery ? 128 : 0)), place])),
  HIP: fc
    .tuple(bytes(1, 20), number(1), bytes(1, 40), fc.array(name, { maxLength: 3 }))
    .map(([tag, algorithm, key, servers]) => Buffer.concat([Buffer.of(tag.length), algorithm, short(key.length), tag, key, ...servers])),
  X25: counted(fc.stringMatching(/^[0-9]{4,15}$/).map((digits) => Buffer.from(digits))),
};

/** RDATA of a type, in all the forms that it may have. */
export function rdataOf(type: string): fc.Arbitrary<Buffer> {
  const row = RECORD_TYPES[type];
  if (!row) throw new Error(`no row for ${type}`);
  const whole = WHOLE[type];
  if (whole) return whole;
  const fields = row.fields.map(({ key, codec }) => {
    const arbitrary = FIELDS.get(codec);
    if (!arbitrary) throw new Error(`test/support/rdata.ts makes no ${type} ${key}`);
    return arbitrary;
  });
  const rdata = fc.tuple(...fields).map((parts) => Buffer.concat(parts));
  // RFC 9460 §2.4.2: priority 0 is an alias, which has no parameters.
  return row.conflict === undefined ? rdata : rdata.map((whole) => (whole.readUInt16BE(0) === 0 ? Buffer.of(0, 0, 0) : whole));
}
