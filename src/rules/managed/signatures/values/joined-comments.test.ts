import assert from "node:assert/strict";
import { test } from "node:test";
import { plainArgument } from "#rules/body/body-reading.ts";
import { joinedByComments } from "./joined-comments.ts";

const joined = (...values: readonly string[]): string => joinedByComments(values.map((value) => plainArgument("query", "a", value)));

test("values that a comment joins are read as one, without those inside of it", () => {
  assert.equal(joined("1 union /*", "and", "*/ select 1"), "1 union /*,*/ select 1");
  assert.equal(joined("0", "1 /* b", "x", "c */ union /*", "y", "*/ select 1", "z"), "1 /* b,c */ union /*,*/ select 1");
  assert.equal(joined("1 /* b */", "*/"), "");
  assert.equal(joined("*/", "1 /*"), "");
  assert.equal(joined("a", "b"), "");
});

test("of long values only the text beside the comments is joined", () => {
  const long = "words and more ".repeat(10_000);
  const text = joined(`${long}1 union /*${long}`, `${long}*/ select 1 from users ${long}`);
  assert.ok(text.length < 10_000, String(text.length));
  assert.match(text, /1 union \/\*,\*\/ select 1 from users/);
});
