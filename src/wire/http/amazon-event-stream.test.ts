import { test } from "node:test";
import assert from "node:assert/strict";
import { fc } from "../../../test/support/property.ts";
import { type AmazonMessage, AmazonEventStreamReader, AmazonStreamError, encodeAmazonMessage } from "./amazon-event-stream.ts";

const read = (chunks: readonly Buffer[], messageBytesMax = 65_536): readonly AmazonMessage[] => {
  const messages: AmazonMessage[] = [];
  const reader = new AmazonEventStreamReader((message) => messages.push(message), { messageBytesMax });
  for (const chunk of chunks) reader.push(chunk);
  assert.ok(reader.isBetween);
  return messages;
};

test("the example messages of the specification are decoded and encoded", () => {
  // Smithy, "Amazon Event Stream Specification", test vectors: a payload without headers.
  const plain = Buffer.from("0000001d00000000fd528c5a7b27666f6f273a27626172277dc3653936", "hex");
  assert.deepEqual(
    read([plain]).map(({ headers, payload }) => [headers.size, payload.toString()]),
    [[0, "{'foo':'bar'}"]],
  );
  assert.deepEqual(encodeAmazonMessage({}, Buffer.from("{'foo':'bar'}")), plain);
});

test("property: an encoded message is decoded again, in chunks of any size", () => {
  const message = fc.record({
    headers: fc.dictionary(fc.stringMatching(/^[:a-z-]{1,20}$/), fc.string({ maxLength: 40 }), { maxKeys: 5 }),
    payload: fc.uint8Array({ maxLength: 300 }),
  });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 6 }), fc.integer({ min: 1, max: 50 }), (messages, size) => {
      const bytes = Buffer.concat(messages.map(({ headers, payload }) => encodeAmazonMessage(headers, Buffer.from(payload))));
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
      const found = read(chunks).map(({ headers, payload }) => ({ headers: new Map(headers), payload: [...payload] }));
      assert.deepEqual(
        found,
        messages.map(({ headers, payload }) => ({ headers: new Map(Object.entries(headers)), payload: [...payload] })),
      );
    }),
  );
});

test("damage, too large messages and too long headers are reported", () => {
  const good = encodeAmazonMessage({ ":event-type": "metadata" }, Buffer.from("{}"));
  for (let i = 0; i < good.length; i++) {
    const damaged = Buffer.from(good);
    damaged[i] = (damaged[i] as number) ^ 1;
    assert.throws(() => read([damaged]), AmazonStreamError);
  }
  assert.throws(() => read([good], good.length - 1), /larger/);
});
