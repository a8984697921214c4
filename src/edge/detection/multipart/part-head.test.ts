import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../../test/support/growth.ts";
import { parsePartHead } from "./part-head.ts";

test("RFC 2046 §5.1: the parser ignores white space around the field values of a part", () => {
  const head = parsePartHead("Content-Type: \t text/html ;charset=utf-8\t\r\ncontent-transfer-encoding:BASE64\nno field\n : x\n1a: x");
  assert.deepEqual(head, { type: "text/html", charset: "utf-8", encoding: "base64", boundary: "", cut: "none" });
  assert.equal(parsePartHead('Content-Type: multipart/mixed;\r\n\tboundary="a b"').boundary, "a b");
  // A carriage return alone does not end a line.
  assert.equal(parsePartHead("content-transfer-encoding:   \rbase64").encoding, "base64");
});

test("parsing the head of a part takes linear time", () => {
  for (const piece of [" ", "\t", "\r", "\n ", "\r\n\t", "a:", ":", "; boundary=", "content-type: ;boundary  "])
    assertGrowsLinearly(piece, (length) => {
      const text = `content-type:${piece.repeat(length / piece.length)}\rx`;
      return () => parsePartHead(text);
    });
});
