import { block, END_HEADERS, END_STREAM, type Field, FRAME, GET, POST } from "./http2-frames.ts";
import type { BlockKind, SentFrame } from "./http2-rules.ts";
import { fc } from "./property.ts";

export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const PADDED = 8;
const PRIORITY = 0x20;

const frameOf = (type: number, flags: number, stream: number, payload: Buffer, kind: BlockKind = "malformed"): SentFrame => ({
  ...{ type, flags, stream, payload },
  block: kind,
});
const uint32 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => bytes.writeUInt32BE(value, i * 4));
  return bytes;
};

/** Mostly streams that a client opens, in order and out of order; rarely one of the server's, or the connection. */
const stream = fc.oneof({ weight: 12, arbitrary: fc.constantFrom(1, 3, 5, 7, 9, 11, 13, 15, 17) }, fc.constantFrom(0, 2, 4, 0x7fff_ffff));

const BLOCKS: readonly (readonly [BlockKind, readonly Field[]])[] = [
  ["request", GET],
  ["request", POST],
  ["request", [...POST, ["cookie", "a=1"], ["x-a", "b".repeat(300)]]],
  ["trailers", [["x-trailer", "1"]]],
  ["trailers", []],
  ["malformed", [...GET, ["X-Upper", "1"]]],
  ["malformed", [...GET, ["connection", "close"]]],
  ["malformed", [["x-a", "1"], ...GET]],
  ["malformed", [...GET, ["te", "gzip"]]],
];
const blockOf = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...BLOCKS.slice(0, 3)) },
  { weight: 4, arbitrary: fc.constantFrom(...BLOCKS.slice(3)) },
);
const BROKEN: readonly Buffer[] = [Buffer.of(0x80), Buffer.of(0xff, 0xff, 0xff, 0xff, 0xff, 0x0f), Buffer.of(0x40, 0x05, 0x61)];
const anyBlock: fc.Arbitrary<readonly [BlockKind, Buffer]> = fc.oneof(
  { weight: 20, arbitrary: blockOf.map(([kind, fields]): [BlockKind, Buffer] => [kind, block(fields)]) },
  fc.constantFrom(...BROKEN).map((bytes): [BlockKind, Buffer] => ["broken", bytes]),
);

/** A payload whose first byte is the padding length, which may be too large. */
function padded(payload: Buffer, padding: number, isLie: boolean): Buffer {
  return Buffer.concat([Buffer.of(isLie && payload.length < 200 ? 255 : padding), payload, Buffer.alloc(padding)]);
}

const padding = fc.oneof(
  { weight: 6, arbitrary: fc.constant(null) },
  fc.record({ bytes: fc.nat({ max: 20 }), isLie: fc.integer({ min: 0, max: 9 }).map((die) => die === 0) }),
);

/** A header block in one frame or in several, with something between them now and then. */
const heads: fc.Arbitrary<SentFrame[]> = fc
  .record({
    stream,
    block: anyBlock,
    endsStream: fc.boolean(),
    padding,
    hasPriority: fc.integer({ min: 0, max: 4 }).map((die) => die === 0),
    pieces: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 4 }), fc.constantFrom(31, 32, 33)),
    between: fc.oneof(
      { weight: 12, arbitrary: fc.constant(null) },
      fc.constantFrom(
        frameOf(FRAME.DATA, 0, 1, Buffer.alloc(3)),
        frameOf(0x77, 0, 0, Buffer.alloc(3)),
        frameOf(FRAME.CONTINUATION, 0, 99, Buffer.alloc(0)),
        frameOf(FRAME.PING, 0, 0, Buffer.alloc(8)),
      ),
    ),
  })
  .map(({ stream: id, block: [kind, bytes], endsStream, padding: pad, hasPriority, pieces, between }) => {
    const size = Math.ceil(bytes.length / (pieces + 1));
    const first = Buffer.concat([hasPriority ? Buffer.alloc(5) : Buffer.alloc(0), bytes.subarray(0, pieces === 0 ? undefined : size)]);
    const flags = (endsStream ? END_STREAM : 0) | (hasPriority ? PRIORITY : 0) | (pad === null ? 0 : PADDED);
    const payload = pad === null ? first : padded(first, pad.bytes, pad.isLie);
    const head = frameOf(FRAME.HEADERS, flags | (pieces === 0 ? END_HEADERS : 0), id, payload, kind);
    const rest = Array.from({ length: pieces }, (_, i) =>
      frameOf(FRAME.CONTINUATION, i === pieces - 1 ? END_HEADERS : 0, id, bytes.subarray(size * (i + 1), size * (i + 2)), kind),
    );
    if (between !== null) rest.splice(rest.length >> 1, 0, between);
    return [head, ...rest];
  });

const data = fc
  .record({
    stream,
    bytes: fc.oneof(fc.nat({ max: 50 }), fc.nat({ max: 16_300 }), fc.constantFrom(16_384, 16_385)),
    padding,
    endsStream: fc.boolean(),
  })
  .map(({ stream: id, bytes, padding: pad, endsStream }) => {
    const payload = pad === null ? Buffer.alloc(bytes) : padded(Buffer.alloc(Math.max(0, bytes - pad.bytes - 1)), pad.bytes, pad.isLie);
    return [frameOf(FRAME.DATA, (endsStream ? END_STREAM : 0) | (pad === null ? 0 : PADDED), id, payload)];
  });

const setting = fc.tuple(
  fc.constantFrom(1, 2, 3, 4, 4, 5, 6, 8, 9, 0xff),
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(0, 1, 1000, 16_384, 65_535) }, fc.constantFrom(2, 0x7fff_ffff, 0xffff_ffff)),
);
const SENSIBLE = new Map([
  [2, 1],
  [5, 0xff_ffff],
  [8, 1],
  [9, 1],
]);
const settings = fc.tuple(fc.array(setting, { maxLength: 4 }), fc.integer({ min: 0, max: 5 })).map(([values, die]) => {
  const payload = Buffer.alloc(values.length * 6);
  values.forEach(([name, value], i) => {
    payload.writeUInt16BE(name, i * 6);
    // Most of them are such as clients send: faults would end nearly every conversation.
    payload.writeUInt32BE(die === 0 ? value : Math.min(value, SENSIBLE.get(name) ?? 100_000), i * 6 + 2);
    if (die !== 0 && name === 5) payload.writeUInt32BE(Math.max(16_384, Math.min(value, 0xff_ffff)), i * 6 + 2);
  });
  return [frameOf(FRAME.SETTINGS, 0, 0, payload)];
});

const windowUpdate = fc
  .tuple(stream, fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 40_000 }) }, fc.constantFrom(0, 0x7fff_ffff, 0x8000_0001)))
  .map(([id, increment]) => [frameOf(FRAME.WINDOW_UPDATE, 0, id, uint32(increment))]);
const connectionWindow = fc.integer({ min: 1, max: 100_000 }).map((bytes) => [frameOf(FRAME.WINDOW_UPDATE, 0, 0, uint32(bytes))]);
const reset = stream.map((id) => [frameOf(FRAME.RST_STREAM, 0, id, uint32(8))]);
const priority = stream.map((id) => [frameOf(FRAME.PRIORITY, 0, id, Buffer.alloc(5))]);
const ping = fc.tuple(fc.constantFrom(0, 0, 1), fc.uint8Array({ minLength: 8, maxLength: 8 }));
const pings = ping.map(([flags, bytes]) => [frameOf(FRAME.PING, flags, 0, Buffer.from(bytes))]);
const goaway = fc.constantFrom(0, 0, 2).map((code) => [frameOf(FRAME.GOAWAY, 0, 0, Buffer.concat([uint32(0, code), Buffer.from("bye")]))]);
const settingsAck = fc.constant([frameOf(FRAME.SETTINGS, 1, 0, Buffer.alloc(0))]);
const unknown = fc
  .tuple(fc.integer({ min: 10, max: 255 }), fc.integer({ min: 0, max: 255 }), stream, fc.uint8Array({ maxLength: 40 }))
  .map(([type, flags, id, bytes]) => [frameOf(type, flags, id, Buffer.from(bytes))]);
/** Any length and offset, but not a header block, because its content would be undefined. */
const misshapen = fc
  .tuple(fc.constantFrom(0, 2, 3, 4, 5, 6, 7, 8, 9), fc.constantFrom(0, 1, 8), stream, fc.uint8Array({ maxLength: 12 }))
  .map(([type, flags, id, bytes]) => [frameOf(type, flags, id, Buffer.from(bytes))]);

/** Frames of one connection after its preface. Most are legal in their position, or break a rule of one stream. */
export const conversation: fc.Arbitrary<SentFrame[]> = fc
  .tuple(
    fc.integer({ min: 0, max: 60 }).map((die) => (die === 0 ? [] : [frameOf(FRAME.SETTINGS, 0, 0, Buffer.alloc(0))])),
    fc.array(
      fc.oneof(
        { weight: 10, arbitrary: heads },
        { weight: 6, arbitrary: data },
        { weight: 2, arbitrary: settings },
        { weight: 3, arbitrary: windowUpdate },
        { weight: 2, arbitrary: connectionWindow },
        { weight: 3, arbitrary: reset },
        { weight: 1, arbitrary: priority },
        { weight: 1, arbitrary: pings },
        { weight: 1, arbitrary: settingsAck },
        { weight: 1, arbitrary: goaway },
        { weight: 1, arbitrary: unknown },
        { weight: 1, arbitrary: misshapen },
      ),
      { minLength: 1, maxLength: 25 },
    ),
  )
  .map(([first, groups]) => [...first, ...groups.flat()]);
