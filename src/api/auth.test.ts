import assert from "node:assert/strict";
import { test } from "node:test";
import { PlatformError } from "#kernel/errors/errors.ts";
import { failing } from "../../test/support/failing.ts";
import { readCredential } from "./auth.ts";

const chainOf = (headers: Record<string, string>): unknown => {
  try {
    return readCredential(headers);
  } catch (error) {
    assert.ok(error instanceof PlatformError);
    return [error.code, ...error.chain.map((item) => item.code)];
  }
};

const SECRET = "A".repeat(40);
const KEY = "0123456789abcdef0123456789abcdef01234";

test("both forms of a credential are read, and a token wins", () => {
  assert.deepEqual(chainOf({ authorization: `Bearer ${SECRET}` }), { type: "token", secret: SECRET });
  assert.deepEqual(chainOf({ authorization: `bearer   ${SECRET} ` }), { type: "token", secret: SECRET });
  assert.deepEqual(chainOf({ "x-auth-email": "a@b.example", "x-auth-key": KEY }), { type: "key", email: "a@b.example", key: KEY });
  assert.deepEqual(chainOf({ authorization: `Bearer ${SECRET}`, "x-auth-email": "a@b", "x-auth-key": KEY }), {
    type: "token",
    secret: SECRET,
  });
});

test("over TLS only the cookie counts that other hosts of the domain cannot set", () => {
  const cookie = "selvedge=theirs; __Host-selvedge=mine";
  assert.deepEqual(readCredential({ cookie }, true), { type: "session", secret: "mine" });
  assert.throws(() => readCredential({ cookie: "selvedge=theirs" }, true), failing(9106));
  assert.deepEqual(readCredential({ cookie: "selvedge=mine" }, false), { type: "session", secret: "mine" });
});

test("a missing or malformed credential has its own code in the error chain", () => {
  assert.deepEqual(chainOf({}), [9106]);
  assert.deepEqual(chainOf({ "x-auth-key": KEY }), [6003, 6100]);
  assert.deepEqual(chainOf({ "x-auth-email": "a@b" }), [6003, 6101]);
  assert.deepEqual(chainOf({ "x-auth-email": "nobody", "x-auth-key": KEY }), [6003, 6102]);
  assert.deepEqual(chainOf({ "x-auth-email": "a@b", "x-auth-key": "short" }), [6003, 6103]);
  for (const authorization of [
    "",
    "Bearer",
    "Bearer ",
    `Basic ${SECRET}`,
    SECRET,
    `Bearer ${SECRET} x`,
    "Bearer a b",
    "Bearer <token>",
    `Bearer ${"x".repeat(300)}`,
  ])
    assert.deepEqual(chainOf({ authorization }), [6003, 6111], authorization);
});
