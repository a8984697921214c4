import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { readDelta, RefusedMessage, unpackDelta } from "./bus-message.ts";

test("the reader refuses a body that is not compressed or not JSON, and continues", () => {
  const header = (name: string): string => (name === "Sv-Hash" ? "h" : name === "Sv-History" ? "x" : "1");
  for (const body of [Buffer.from("no zstd"), zstdCompressSync("not JSON"), zstdCompressSync("[1")])
    assert.throws(() => unpackDelta(readDelta(header, body, null, "")), new RefusedMessage("it is damaged"));
});
