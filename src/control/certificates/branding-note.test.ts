import assert from "node:assert/strict";
import { test } from "node:test";
import { brandingNote } from "./branding-note.ts";

const LONG = `${"a".repeat(60)}.customer.example`;

test("SPEC 2.7: a response says why the Common Name is not the service's", () => {
  assert.equal(brandingNote(LONG, ["local"], ""), null);
  assert.equal(brandingNote(LONG, ["local"], "lets_encrypt"), null, "the own authority issues for it");
  assert.equal(brandingNote(LONG, ["lets_encrypt", "local"], "local"), null);
  assert.match(brandingNote(LONG, ["lets_encrypt", "local"], "") ?? "", /lets_encrypt does not sign .* the certificate has no Common Name/);
  assert.match(brandingNote("a.example", ["local", "google"], "google") ?? "", /google does not sign .* the Common Name is a\.example\./);
});
