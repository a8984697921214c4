import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { planeSealer, readPlaneSealer } from "./plane-keys.ts";
import { createSealer } from "./seal.ts";

test("a plane's sealer opens values that were sealed with any of its keys, and no others", () => {
  const [a, b, other] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const plane = planeSealer({ open: [a.toString("base64"), b.toString("base64")], derived: { clearance: other.toString("base64") } });
  for (const key of [a, b]) assert.equal(plane.open(createSealer(key).seal("secret", "field:1"), "field:1").toString(), "secret");
  assert.throws(() => plane.open(createSealer(other).seal("secret", "field:1"), "field:1"));
  assert.throws(() => plane.open(createSealer(a).seal("secret", "field:1"), "field:2"));
  assert.equal(createSealer(a).open(plane.seal("own", "x"), "x").toString(), "own");
  assert.deepEqual([plane.derive("clearance"), plane.derive("disk")], [other, createSealer(a).derive("disk")]);
});

test("a file of 32 bytes is read as the installation's own key", (t) => {
  const directory = mkdtempSync(join(tmpdir(), "plane-keys-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const key = randomBytes(32);
  const [own, plane] = ["own", "plane"].map((name) => join(directory, name)) as [string, string];
  writeFileSync(own, key);
  writeFileSync(plane, JSON.stringify({ open: [key.toString("base64")], derived: {} }));
  for (const path of [own, plane]) assert.deepEqual(readPlaneSealer(path).derive("clearance"), createSealer(key).derive("clearance"));
});
