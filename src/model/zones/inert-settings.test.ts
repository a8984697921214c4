import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { Value } from "typebox/value";
import { INERT_SETTINGS } from "./inert-settings.ts";
import { EDITABLE_SETTINGS } from "./zone-settings.ts";

/** They have dates and routes of their own. */
const ELSEWHERE: ReadonlySet<string> = new Set(["cname_flattening"]);

test("every setting that the SDK types with a value is known", () => {
  const types = readFileSync(fileURLToPath(import.meta.resolve("cloudflare/resources/zones/settings")).replace(/\.mjs$/, ".d.ts"), "utf8");
  const ids = new Set([...types.matchAll(/^ +id: '([0-9a-z_]+)'/gm)].map(([, id = ""]) => id).filter((id) => !/^[0-9a-f]{32}$/.test(id)));
  assert.ok(ids.size > 60, String(ids.size));
  const missing = [...ids].filter((id) => !(id in INERT_SETTINGS) && !(id in EDITABLE_SETTINGS) && !ELSEWHERE.has(id));
  assert.deepEqual(missing, []);
});

test("the value that a setting without effect begins with is one that it accepts", () => {
  for (const [id, { schema, value }] of Object.entries(INERT_SETTINGS)) assert.ok(Value.Check(schema, value), id);
});
