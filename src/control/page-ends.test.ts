import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { createPageEnds } from "./page-ends.ts";

test("the place before a row is the last known one, in any order", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20_000), { maxLength: 60 }), fc.nat(20_000), (positions, offset) => {
      const places = createPageEnds<number>();
      for (const position of positions) places.add("list", { position, row: position });
      const found = places.before("list", offset);
      assert.ok(found === null || (found.row === found.position && found.position <= offset));
      // So close before it no other is needed.
      const known = Math.max(0, ...positions.filter((position) => position <= offset));
      assert.ok(known - (found?.position ?? 0) < 500, `${known} is known, ${found?.position} was found`);
      assert.equal(places.before("another list", offset), null);
    }),
  );
});

test("abandoned lists release memory for others", () => {
  const places = createPageEnds<null>();
  const place = (position: number) => ({ position, row: null });
  for (let n = 1; n <= 200; n++) {
    for (let at = 1; at <= 300; at++) places.add(`list ${n}`, place(at * 500));
    assert.equal(places.before("list 1", 100_000)?.position, 100_000, "it is in use");
  }
  assert.equal(places.before("list 2", 100_000), null);
  assert.equal(places.before("list 200", 100_000)?.position, 100_000);
});
