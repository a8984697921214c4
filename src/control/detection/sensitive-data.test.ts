import assert from "node:assert/strict";
import { test } from "node:test";
import { PlatformError } from "#kernel/errors.ts";
import { createSensitiveData } from "./sensitive-data.ts";

const TEXT = "Café: card 4716461583322103, again 4716461583322103, write to jo@shop.test";

test("a text is looked through by every detector, and nothing of it comes back", () => {
  const result = createSensitiveData().scan({ text: TEXT });
  assert.deepEqual(
    result.findings.map(({ detector, count, enabled, offset }) => [detector, count, enabled, offset]),
    [
      ["fin.card_visa", 2, true, Buffer.byteLength("Café: card ")],
      ["pii.email", 1, false, Buffer.byteLength("Café: card 4716461583322103, again 4716461583322103, write to ")],
    ],
  );
  assert.deepEqual([result.bytes, result.scan_limited], [Buffer.byteLength(TEXT), false]);
  assert.doesNotMatch(JSON.stringify(result), /4716|shop/);
});

test("overrides decide what counts as enabled, and are refused where no rule could have them", () => {
  const { scan } = createSensitiveData();
  const overrides = { enabled: false, categories: [{ category: "contact", enabled: true }] };
  assert.deepEqual(
    scan({ text: TEXT, overrides }).findings.map(({ enabled }) => enabled),
    [false, true],
  );
  for (const wrong of [{ action: "block" }, { categories: [{ category: "nonsense", enabled: true }] }, { rules: [{ id: "0" }] }])
    assert.throws(
      () => scan({ text: TEXT, overrides: wrong }),
      (error: unknown) => error instanceof PlatformError && (error.source ?? "").startsWith("/overrides"),
      JSON.stringify(wrong),
    );
});
