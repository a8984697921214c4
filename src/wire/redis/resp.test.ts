import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createReplyReader, encodeCommand, RedisError, type RedisReply } from "./resp.ts";

const read = (...pieces: readonly Uint8Array[]): readonly RedisReply[] => {
  const replies: RedisReply[] = [];
  const take = createReplyReader((reply) => replies.push(reply));
  pieces.forEach(take);
  return replies;
};

test("a command is an array of bulk strings, counted in bytes", () => {
  assert.equal(encodeCommand(["SET", "k", "ü", 1]), "*4\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nü\r\n$1\r\n1\r\n");
});

test("replies of each type are read, however the stream is cut", () => {
  const text = "+OK\r\n:-7\r\n$5\r\nhe\r\no\r\n$-1\r\n*3\r\n:1\r\n*1\r\n$1\r\na\r\n*-1\r\n-MOVED 1 127.0.0.1:2\r\n";
  const expected = ["OK", -7, "he\r\no", null, [1, ["a"], null]];
  fc.assert(
    fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
      const at = [0, ...cuts.toSorted((one, other) => one - other), text.length];
      const pieces = at.slice(1).map((end, index) => Buffer.from(text.slice(at[index], end)));
      const replies = read(...pieces);
      assert.deepEqual(replies.slice(0, -1), expected);
      assert.ok(replies.at(-1) instanceof RedisError && replies.at(-1)?.toString().includes("MOVED 1 127.0.0.1:2"));
    }),
  );
});

test("a stream that is not RESP, or too large, is refused", () => {
  for (const text of ["HTTP/1.1 400 Bad Request\r\n", "$99999999\r\n", "*5000\r\n", ":x\r\n", "$1\r\nabc\r\n", `+${"a".repeat(70_000)}`])
    assert.throws(() => read(Buffer.from(text)), RedisError, text.slice(0, 20));
  assert.throws(() => read(Buffer.from("*1\r\n".repeat(10))), RedisError);
});
