import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { requestKind } from "./endpoint-types.ts";

const CASES: readonly (readonly [path: string, type: string])[] = [
  ["/v1/chat/completions", "chat"],
  ["/model/amazon.titan-embed-text-v2:0/invoke", "embedding"],
  ["/v1beta/models/text-embedding-004:predict", "embedding"],
  ["/v1/models", "models"],
  ["/v1/models/gpt-4o", "models"],
  ["/else", ""],
  [`/v1/models/${"x".repeat(2000)}`, ""],
];

for (const [path, type] of CASES)
  test(`${path.slice(0, 60)} is ${type === "" ? "of no known kind" : type}`, () => assert.equal(requestKind(path).request_type, type));

test("classifying a path takes linear time", () => {
  for (const piece of ["/models/", "/model/embed", "/models/embed", "embed", "/", "a"])
    assertGrowsLinearly(piece, (length) => () => requestKind(`${piece.repeat(length / piece.length)}:`));
});
