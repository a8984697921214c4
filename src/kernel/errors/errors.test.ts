import assert from "node:assert/strict";
import { test } from "node:test";
import { ERROR_CODES, type ErrorCode } from "./error-codes.ts";
import { PlatformError } from "./errors.ts";

test("an error has its row's code, status and message, unless the caller overrides them", () => {
  const plain = new PlatformError("not_found");
  assert.equal(plain.code, ERROR_CODES.not_found.code);
  assert.equal(plain.status, 404);
  assert.deepEqual(plain.toItem(), { code: plain.code, message: ERROR_CODES.not_found.message });

  const cause = new Error("underneath");
  const chain = [{ code: 1004, message: "inner" }];
  const exact = new PlatformError("invalid_input", {
    message: "ttl must be a number",
    source: "/ttl",
    chain,
    status: 422,
    cause,
    detail: "for operators",
  });
  assert.equal(exact.status, 422);
  assert.equal(exact.cause, cause);
  assert.deepEqual(exact.toItem(), { code: exact.code, message: "ttl must be a number", source: { pointer: "/ttl" }, error_chain: chain });
});

test("errors for which a retry can help have a Retry-After header", () => {
  const away = new PlatformError("database_unavailable");
  assert.deepEqual([away.retryable, away.headers], [true, { "retry-after": "1" }]);
  const known = new PlatformError("database_unavailable", { headers: { "retry-after": "9" } });
  assert.deepEqual(known.headers, { "retry-after": "9" });
  const unknown = new PlatformError("not_found");
  assert.deepEqual([unknown.retryable, unknown.headers], [false, {}]);
});

test("an error's details for operators never reach a client", () => {
  const item = JSON.stringify(new PlatformError("internal", { detail: "password=hunter2", cause: new Error("password=hunter2") }).toItem());
  assert.ok(!item.includes("hunter2"));
});

test("every code has an HTTP error status, and sentences for its cause and remedy", () => {
  for (const [name, row] of Object.entries<ErrorCode>(ERROR_CODES)) {
    assert.match(name, /^[a-z][a-z0-9_]*$/);
    assert.ok(Number.isInteger(row.code) && row.code >= 0, name);
    assert.ok(row.status >= 400 && row.status <= 599, name);
    assert.notEqual(row.message, "", name);
    assert.match(row.cause, /^[A-Z"`].*[.…]$/, name);
    assert.match(row.remedy, /^[A-Z"`].*[.…]$/, name);
  }
});

test("error codes that share a number are adjacent rows of the table", () => {
  const numbers = Object.values<ErrorCode>(ERROR_CODES).map((row) => row.code);
  const seen = new Set<number>();
  for (const [i, number] of numbers.entries()) {
    assert.ok(!seen.has(number) || numbers[i - 1] === number, `${number} stands in two places of the table`);
    seen.add(number);
  }
});
