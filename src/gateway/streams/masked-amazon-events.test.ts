import assert from "node:assert/strict";
import { test } from "node:test";
import { type AmazonMessage, AmazonEventStreamReader, encodeAmazonMessage } from "#wire/http/amazon-event-stream.ts";
import { createKeyMask } from "#gateway/http/key-mask.ts";
import { MaskedAnswer } from "#gateway/providers/masked-answer.ts";

const KEY = "bedrock-Ab012345678901234567890123456789";

const message = (text: string): Buffer =>
  encodeAmazonMessage(
    { ":event-type": "contentBlockDelta", ":content-type": "application/json", ":message-type": "event" },
    Buffer.from(JSON.stringify({ contentBlockIndex: 0, delta: { text } })),
  );

/** The answer that a client gets for these bytes, in chunks of a size. */
function answered(bytes: Buffer, size: number): Buffer {
  const out: Buffer[] = [];
  const mask = createKeyMask([KEY]) ?? assert.fail();
  const answer = new MaskedAnswer(mask, {
    onHead: () => {},
    onData: (data) => void out.push(Buffer.from(data)),
    onEnd: () => {},
    onFailed: (name) => assert.fail(name),
  });
  answer.onHead(200, { "content-type": "application/vnd.amazon.eventstream" });
  for (let at = 0; at < bytes.length; at += size) answer.onData(bytes.subarray(at, at + size));
  answer.onEnd();
  return Buffer.concat(out);
}

/** Refuses messages with a wrong checksum, as SDKs do. */
function textsIn(bytes: Buffer): readonly string[] {
  const messages: AmazonMessage[] = [];
  const reader = new AmazonEventStreamReader((one) => void messages.push(one), { messageBytesMax: 1_000_000 });
  reader.push(bytes);
  assert.ok(reader.isBetween);
  return messages.map(({ payload }) => (JSON.parse(payload.toString()) as { delta: { text: string } }).delta.text);
}

test("messages of Amazon's streams in which a key is masked have the checksum of their new bytes", () => {
  const stream = Buffer.concat(["the key: ", `is ${KEY}.`, "end"].map(message));
  for (const size of [1, 7, 100, stream.length])
    assert.deepEqual(textsIn(answered(stream, size)), ["the key: ", `is ${"*".repeat(KEY.length)}.`, "end"]);
});

test("a key in pieces over messages of Amazon's streams is masked, and other messages pass as they came", () => {
  const pieces = Buffer.concat([...(KEY.match(/.{1,5}/g) ?? []), " is it"].map(message));
  for (const size of [1, 50, pieces.length]) {
    const text = textsIn(answered(pieces, size)).join("");
    assert.equal(text, `${"*".repeat(KEY.length)} is it`);
  }
  const other = Buffer.concat(["a bedrock", " of b", "", "edrock"].map(message));
  for (const size of [3, other.length]) assert.ok(answered(other, size).equals(other));
});

test("bytes other than messages, and too long messages, pass with whole keys masked", () => {
  const long = encodeAmazonMessage({}, Buffer.alloc(300_000, "x"));
  for (const bytes of [
    Buffer.from("no messages at all, but text"),
    long,
    Buffer.concat([message("a"), long]),
    message("a").subarray(0, 20),
  ])
    assert.ok(answered(bytes, 10_000).equals(bytes));
  assert.doesNotMatch(answered(Buffer.from(`no messages but ${KEY}`), 4).toString(), /Ab01/);
});
