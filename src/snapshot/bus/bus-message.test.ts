import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { decodeDelta, RefusedMessage } from "./bus-message.ts";

test("a body that is not compressed, or is not JSON, is refused and does not break the reader", () => {
  const header = (name: string): string => (name === "Sv-Hash" ? "h" : name === "Sv-History" ? "x" : "1");
  for (const body of [Buffer.from("no zstd"), zstdCompressSync("not JSON"), zstdCompressSync("[1")])
    assert.throws(() => decodeDelta(header, body, null, ""), new RefusedMessage("it is damaged"));
});
