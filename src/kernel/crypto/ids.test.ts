import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { isId, newId, newRayId, newTokenSecret, newUlid, newUlids, rayTimeMs, ULID_LENGTH, ulidTimeMs } from "./ids.ts";

const MANY = 2000;
const many = (make: () => string): readonly string[] => Array.from({ length: MANY }, make);

test("identifiers have their format and are unique, also after the random pool is refilled", () => {
  const rows = [
    // Not the form of a UUID, in which the digit after the sixteenth is 8, 9, a or b.
    { make: newId, form: /^[0-9a-f]{16}[0-7][0-9a-f]{15}$/ },
    { make: () => newRayId(1_700_000_000_000), form: /^[0-9a-f]{16}$/ },
    { make: newTokenSecret, form: /^[A-Za-z0-9]{40}$/ },
    { make: () => newUlid(1_700_000_000_000), form: /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/ },
  ];
  for (const { make, form } of rows) {
    const made = many(make);
    for (const id of made) assert.match(id, form);
    assert.equal(new Set(made).size, MANY);
  }
});

test("isId accepts the output of newId and nothing similar", () => {
  const id = newId();
  assert.ok(isId(id));
  for (const text of ["", id.slice(1), `${id}0`, id.toUpperCase().replace(/\d/g, "A"), `${id.slice(1)}g`, `${id}\n`, ` ${id.slice(1)}`]) {
    assert.ok(!isId(text), text);
  }
});

test("ULIDs sort by their time", () => {
  const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
  fc.assert(
    fc.property(time, time, (a, b) => {
      if (a !== b) assert.equal(newUlid(a) < newUlid(b), a < b);
    }),
  );
  assert.equal(newUlid(0).slice(0, 10), "0000000000");
  assert.equal(newUlid(2 ** 48 - 1).slice(0, 10), "7ZZZZZZZZZ");
});

test("property: ULIDs that are created together have their own times, and are unique", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 48 - 1 }), { maxLength: 50 }), (times) => {
      const text = newUlids(Float64Array.from(times));
      const ids = times.map((_, n) => text.slice(n * ULID_LENGTH, (n + 1) * ULID_LENGTH));
      assert.equal(text.length, times.length * ULID_LENGTH);
      assert.deepEqual(ids.map(ulidTimeMs), times);
    }),
  );
  const ids = newUlids(new Float64Array(MANY).fill(1_700_000_000_000));
  assert.equal(new Set(Array.from({ length: MANY }, (_, n) => ids.slice(n * ULID_LENGTH, (n + 1) * ULID_LENGTH))).size, MANY);
});

test("a ray contains its time and sorts by it", () => {
  const time = fc.integer({ min: Date.UTC(2020), max: Date.UTC(2089) });
  fc.assert(
    fc.property(time, time, (a, b) => {
      const [first, second] = [newRayId(a), newRayId(b)];
      assert.equal(rayTimeMs(first), a);
      if (a !== b) assert.equal(first < second, a < b);
    }),
  );
  for (const text of ["", "0", "xyz", newRayId(Date.UTC(2024)).toUpperCase().replace(/\d/g, "A")]) assert.equal(rayTimeMs(text), undefined);
});
