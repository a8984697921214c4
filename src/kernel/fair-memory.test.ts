import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { FairMemory } from "./fair-memory.ts";

test("one holder gets half of the memory, and another one always finds some", () => {
  const used = { value: 0 };
  const memory = new FairMemory(1000, used);
  const shares = Array.from({ length: 100 }, () => memory.share("greedy", "client 1"));
  assert.equal(shares.filter((share) => share.take(10)).length, 50);
  assert.equal(memory.share("greedy", "client 2").take(10), false, "from another client");
  assert.equal(memory.share("other", "client 1").take(10), false, "from the same client");
  const other = memory.share("other", "client 2");
  assert.deepEqual([other.take(250), other.take(1)], [true, false]);
  shares.forEach((share) => share.release());
  assert.deepEqual([other.take(250), used.value], [true, 500]);
});

test("a holder that needs no more keeps what it has, although others have taken the rest", () => {
  const memory = new FairMemory(1000, { value: 0 });
  const [first, second, third] = [memory.share("first"), memory.share("second"), memory.share("third")];
  assert.deepEqual([first.take(500), second.take(250), third.take(125)], [true, true, true]);
  assert.deepEqual([first.take(0), first.take(1)], [true, false]);
});

test("property: whatever is taken and released, bytes add up, stay below the limit, and a new holder gets some", () => {
  const steps = fc.array(fc.tuple(fc.nat(4), fc.integer({ min: 1, max: 300 }), fc.boolean()), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (all) => {
      const used = { value: 0 };
      const memory = new FairMemory(6000, used);
      const shares = Array.from({ length: 5 }, (_, holder) => memory.share(`h${holder}`));
      const held = shares.map(() => 0);
      for (const [holder, bytes, releases] of all) {
        const share = shares[holder]!;
        if (releases) {
          share.release();
          held[holder] = 0;
        } else if (share.take(bytes)) held[holder]! += bytes;
        assert.equal(
          used.value,
          held.reduce((sum, one) => sum + one, 0),
        );
        const late = memory.share("late");
        assert.ok(late.take(1000 - 300));
        late.release();
      }
    }),
  );
});
