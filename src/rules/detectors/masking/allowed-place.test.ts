import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { fitsPath, fitsSteps, jsonSteps } from "./allowed-place.ts";

test("a path is the same in every notation, and an invalid one is refused", () => {
  const card = jsonSteps("$.users[0].card");
  for (const path of ["$['users'][0]['card']", '$["users"][0]["card"]', "$.users[*].card", "$.*[*].*"])
    assert.ok(card !== null && fitsSteps(jsonSteps(path) ?? [], card), path);
  for (const path of ["$", "$.users", "$.users[1].card", "$.users[0].card.number", '$.users["0"].card'])
    assert.equal(fitsSteps(jsonSteps(path) ?? ["?"], card ?? []), false, path);
  for (const path of ["", "users", "$..card", "$.a.", "$ .a", "$.a[0", "$.a[-1]", "$.a[?(@.b)]", "$.a[0:2]", '$["a\\x"]'])
    assert.equal(jsonSteps(path), null, path);
  assert.deepEqual(jsonSteps(`$['it\\'s "x"']`), ['.it\'s "x"']);
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 20 }), { maxLength: 5 }), (keys) => {
      const path = `$${keys.map((key) => `[${JSON.stringify(key)}]`).join("")}`;
      assert.deepEqual(
        jsonSteps(path),
        keys.map((key) => `.${key}`),
      );
    }),
  );
});

test("stars in a path match anything", () => {
  for (const path of ["/shop/*", "/*", "*", "/shop/*/items", "/s*p/*", "/shop/7/items", "/shop/7/items*"])
    assert.ok(fitsPath(path, "/shop/7/items"), path);
  for (const path of ["/shop", "/shop/", "/*/item", "/shop/7/items/*", "/shop/7*7/items", "/Shop/*"])
    assert.ok(!fitsPath(path, "/shop/7/items"), path);
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 }),
      fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 }),
      (wanted, path) => {
        assert.equal(fitsPath(wanted, path), new RegExp(`^${wanted.replaceAll("*", ".*")}$`).test(path));
      },
    ),
    { numRuns: 500 },
  );
});
