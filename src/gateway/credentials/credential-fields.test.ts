import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { hasCredential } from "./credential-fields.ts";

test("an empty field, or a scheme without a value, is not a credential", () => {
  for (const value of ["", "  ", "Bearer", " bearer ", "Token\t", "\u00a0Key", "basic"])
    assert.equal(hasCredential(["Authorization", value], "/"), false, value);
  for (const value of ["x", "Bearer x", "bearertoken", "  x", " Bearer Bearer"])
    assert.equal(hasCredential(["Authorization", value], "/"), true, value);
  assert.equal(hasCredential(["accept", "x"], "/?key=1"), true);
});

test("reading white space in a credential takes linear time", () => {
  for (const piece of [" ", "\u00a0", "bearer "])
    assertGrowsLinearly(piece, (length) => {
      const value = `${piece.repeat(length / piece.length)}x`;
      return () => assert.ok(hasCredential(["authorization", value], "/"));
    });
});
