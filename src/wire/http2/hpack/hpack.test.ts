import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { HpackDecoder } from "./decoder.ts";
import { blockBytes, HpackEncoder } from "./encoder.ts";
import { ENTRY_BYTES } from "./static-table.ts";

type Pair = readonly [name: string, value: string];

/** The fields of a block, or null if it is refused. */
function decode(decoder: HpackDecoder, block: Uint8Array): Pair[] | null {
  const fields: Pair[] = [];
  // Between other bytes, as blocks are in a read buffer.
  const buffer = Buffer.concat([Buffer.from("before"), block, Buffer.from("behind")]);
  const isRead = decoder.decode(buffer, 6, 6 + block.length, { onField: ({ name, value }) => void fields.push([name, value]) });
  return isRead ? fields : null;
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");

/** RFC 7541 Appendix C: blocks of one connection in turn, and the fields of each. */
const GET_FIELDS: readonly Pair[] = [
  [":method", "GET"],
  [":scheme", "http"],
  [":path", "/"],
  [":authority", "www.example.com"],
];
const SECOND_FIELDS: readonly Pair[] = [...GET_FIELDS, ["cache-control", "no-cache"]];
const THIRD_FIELDS: readonly Pair[] = [
  [":method", "GET"],
  [":scheme", "https"],
  [":path", "/index.html"],
  [":authority", "www.example.com"],
  ["custom-key", "custom-value"],
];
const VECTORS: readonly (readonly [section: string, blocks: readonly (readonly [hex: string, fields: readonly Pair[]])[]])[] = [
  ["C.2.1", [["400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", [["custom-key", "custom-header"]]]]],
  ["C.2.2", [["040c 2f73 616d 706c 652f 7061 7468", [[":path", "/sample/path"]]]]],
  ["C.2.3", [["1008 7061 7373 776f 7264 0673 6563 7265 74", [["password", "secret"]]]]],
  ["C.2.4", [["82", [[":method", "GET"]]]]],
  [
    "C.3",
    [
      ["8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", GET_FIELDS],
      ["8286 84be 5808 6e6f 2d63 6163 6865", SECOND_FIELDS],
      ["8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", THIRD_FIELDS],
    ],
  ],
  [
    "C.4",
    [
      ["8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", GET_FIELDS],
      ["8286 84be 5886 a8eb 1064 9cbf", SECOND_FIELDS],
      ["8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", THIRD_FIELDS],
    ],
  ],
];

for (const [section, blocks] of VECTORS)
  test(`RFC 7541 ${section}`, () => {
    const decoder = new HpackDecoder();
    for (const [block, fields] of blocks) assert.deepEqual(decode(decoder, hex(block)), fields);
  });

const RESPONSE: readonly Pair[] = [
  [":status", "302"],
  ["cache-control", "private"],
  ["date", "Mon, 21 Oct 2013 20:13:21 GMT"],
  ["location", "https://www.example.com"],
];
const RESPONSE_BLOCKS: readonly (readonly [section: string, blocks: readonly string[]])[] = [
  [
    "C.5",
    [
      "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
      "4803 3330 37c1 c0bf",
      "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31",
    ],
  ],
  [
    "C.6",
    [
      "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
      "4883 640e ffc1 c0bf",
      "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
    ],
  ],
];
for (const [section, [first, second, third]] of RESPONSE_BLOCKS)
  test(`RFC 7541 ${section}, with a table of 256 bytes`, () => {
    const decoder = new HpackDecoder();
    const small = Buffer.of(0x3f, 0xe1, 0x01);
    assert.deepEqual(decode(decoder, Buffer.concat([small, hex(first!)])), RESPONSE);
    assert.deepEqual(decode(decoder, hex(second!)), [[":status", "307"], ...RESPONSE.slice(1)]);
    assert.deepEqual(decode(decoder, hex(third!)), [
      [":status", "200"],
      ["cache-control", "private"],
      ["date", "Mon, 21 Oct 2013 20:13:22 GMT"],
      ["location", "https://www.example.com"],
      ["content-encoding", "gzip"],
      ["set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"],
    ]);
  });

const REFUSED: readonly (readonly [what: string, block: string])[] = [
  ["index 0", "80"],
  ["an index beyond both tables", "be"],
  ["a name's index beyond both tables", "7e 0161"],
  ["an index that does not end", "ffff"],
  ["an index that never ends", "ff ffff ffff ffff ffff"],
  ["a literal without a value", "0001 61"],
  ["a name longer than the block", "0005 61"],
  ["a value longer than the block", "0001 6105 61"],
  ["a length that does not end", "0001 617f ff"],
  ["no literal at all", "00"],
  ["a table larger than was allowed", "3fe2 1f"],
  ["a new size of the table after a field", "82 20"],
  ["coded text with the end of the string in it", "0001 6184 ffff ffff"],
  ["coded text with eight bits of padding", "0001 6182 1fff"],
  ["coded text with padding of zeros", "0001 6181 18"],
  ["coded text that ends amid a code", "0001 6182 fff8"],
];
for (const [what, block] of REFUSED) test(`refused: ${what}`, () => assert.equal(decode(new HpackDecoder(), hex(block)), null));

test("shrinking and enlarging the table removes the entries that did not fit", () => {
  const decoder = new HpackDecoder();
  decode(decoder, hex("4001 6101 62"));
  assert.deepEqual(decode(decoder, hex("be")), [["a", "b"]]);
  assert.equal(decode(decoder, hex("20 3fe1 1f be")), null);
});

test("the table changes its size at the beginning of a block twice at most (RFC 7541 §4.2)", () => {
  assert.deepEqual(decode(new HpackDecoder(), hex("20 3fe1 1f 82")), [[":method", "GET"]]);
  assert.equal(decode(new HpackDecoder(), hex("20 3fe1 1f 20 82")), null);
});

test("an entry larger than the table empties it (RFC 7541 §4.4)", () => {
  const decoder = new HpackDecoder();
  assert.notEqual(decode(decoder, Buffer.concat([hex("3f01 4001 6101 62"), hex("4001 637f 8101"), Buffer.alloc(256, 0x64)])), null);
  assert.equal(decode(decoder, hex("be")), null);
});

/** Encodes the fields in a block. */
function block(encoder: HpackEncoder, fields: readonly Pair[], status = 200): Buffer {
  encoder.begin();
  encoder.status(status);
  for (const [name, value] of fields) encoder.text(name, value);
  encoder.sent();
  return Buffer.from(blockBytes().subarray(0, encoder.length));
}

const character = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const text = fc.oneof(
  fc.string({ unit: character, maxLength: 60 }),
  fc.constantFrom("", "x", "content-type", "text/html", "a".repeat(200), "\xff".repeat(40), "é0"),
);
const name = fc.oneof(
  fc.constantFrom("content-type", "date", "set-cookie", "server", "x-a", "x-b", "link"),
  text.map((value) => value.toLowerCase() || "x"),
);
const blocks = fc.array(
  fc.record({
    fields: fc.array(fc.tuple(name, text), { maxLength: 12 }),
    status: fc.constantFrom(100, 103, 200, 204, 301, 404, 500, 599),
    limit: fc.option(fc.constantFrom(0, 40, 100, 1000, 4096, 65_536), { nil: undefined }),
  }),
  { maxLength: 12 },
);
test("property: the decoder reads the encoder's output, for any changes of the table size", () => {
  fc.assert(
    fc.property(blocks, (connection) => {
      const [encoder, decoder] = [new HpackEncoder(), new HpackDecoder()];
      for (const { fields, status, limit } of connection) {
        if (limit !== undefined) encoder.limitTable(limit);
        const given = fields.map(([field, value]): Pair => [field.replace(/[A-Z]/g, (letter) => letter.toLowerCase()), value]);
        for (let twice = 0; twice < 2; twice++)
          assert.deepEqual(decode(decoder, block(encoder, fields, status)), [[":status", String(status)], ...given]);
      }
    }),
    { numRuns: 400 },
  );
});

test("property: for any bytes, the decoder accepts or refuses, and its table stays within its limit", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 8 }), (pieces) => {
      const decoder = new HpackDecoder();
      for (const piece of pieces) if (decode(decoder, piece) === null) return;
      let bytes = 0;
      for (let index = 62; ; index++) {
        const fields = decode(decoder, index < 127 ? Buffer.of(0x80 | index) : Buffer.of(0xff, index - 127));
        if (fields === null) break;
        bytes += fields[0]![0].length + fields[0]![1].length + ENTRY_BYTES;
      }
      assert.ok(bytes <= 4096);
    }),
    { numRuns: 1000 },
  );
});

test("a repeated field takes one byte, a field that occurs once is not indexed, and credentials are never indexed", () => {
  const [encoder, decoder] = [new HpackEncoder(), new HpackDecoder()];
  const once: Pair = ["x-once", `${Math.floor(performance.now() * 1000)}`];
  const unseen = block(encoder, [once]);
  assert.equal(unseen[1]! >> 4, 0, "a literal without a place in the table");
  const field: Pair = ["x-repeated", "the same each time"];
  const lengths = Array.from({ length: 4 }, () => {
    const bytes = block(encoder, [field]);
    assert.deepEqual(decode(decoder, bytes)?.[1], field);
    return bytes.length;
  });
  assert.equal(lengths.at(-1), 2);
  for (let i = 0; i < 4; i++) {
    const secret = block(encoder, [["set-cookie", "session=1"]]);
    assert.equal(secret[1]! >> 4, 1, "never indexed");
    assert.deepEqual(decode(decoder, secret)?.[1], ["set-cookie", "session=1"]);
  }
  encoder.begin();
  encoder.unique("x-ray", "0123456789abcdef");
  encoder.contentLength(0);
  encoder.contentLength(9_007_199_254_740_991);
  assert.deepEqual(decode(decoder, blockBytes().subarray(0, encoder.length)), [
    ["x-ray", "0123456789abcdef"],
    ["content-length", "0"],
    ["content-length", "9007199254740991"],
  ]);
});

test("a block that is encoded and not sent leaves both tables unchanged", () => {
  const [encoder, decoder] = [new HpackEncoder(), new HpackDecoder()];
  const fields = Array.from({ length: 6 }, (_, i): Pair => [`x-given-up-${i}`, "value"]);
  for (let i = 0; i < 3; i++) assert.deepEqual(decode(decoder, block(encoder, fields.slice(0, 3)))?.slice(1), fields.slice(0, 3));
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 3; i++) {
      encoder.begin();
      for (const [name, value] of fields) encoder.text(name, value);
    }
    const sent = fields.toReversed();
    assert.deepEqual(decode(decoder, block(encoder, sent))?.slice(1), sent);
    assert.ok(block(encoder, sent).length > 0);
    assert.deepEqual(decode(decoder, Buffer.from(blockBytes().subarray(0, encoder.length)))?.slice(1), sent);
  }
});

test("a field of an HTTP/1.1 head gets a lower-case name and keeps its value", () => {
  const encoder = new HpackEncoder();
  const head = Buffer.from("Content-TYPE: Text/HTML", "latin1");
  encoder.begin();
  encoder.line(head, 0, 12, 14, head.length);
  assert.deepEqual(decode(new HpackDecoder(), blockBytes().subarray(0, encoder.length)), [["content-type", "Text/HTML"]]);
});

test("a head larger than the encoder's buffer is encoded completely", () => {
  const encoder = new HpackEncoder();
  const fields = Array.from({ length: 100 }, (_, i): Pair => [`x-${i}`, "\x01".repeat(1000)]);
  assert.deepEqual(decode(new HpackDecoder(), block(encoder, fields))?.slice(1), fields);
});
