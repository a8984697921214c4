import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { toolOrSkip } from "./tools.ts";

const { PATH, CI } = process.env;
afterEach(() => {
  process.env["PATH"] = PATH;
  process.env["CI"] = CI ?? "";
});

test("a test for an installed program is not skipped", () => {
  process.env["CI"] = "true";
  process.env["PATH"] = "/nowhere:/usr/bin:/bin";
  assert.equal(toolOrSkip("openssl"), false);
});

test("a missing program skips the test, and fails it in CI", () => {
  process.env["PATH"] = "/nowhere";
  process.env["CI"] = "";
  assert.match(toolOrSkip("dig") || "", /apt-get install bind9-dnsutils/);
  process.env["CI"] = "true";
  assert.throws(() => toolOrSkip("dig"), /dig is not installed/);
});

test("a program without a row in the table is an error", () => {
  assert.throws(() => toolOrSkip("no-such-program"), /has no row/);
});
