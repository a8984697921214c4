import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { createValuesByName } from "./values-by-name.ts";

test("property: values by name equal a list for each name", () => {
  const step = fc.record({ isAdded: fc.boolean(), name: fc.constantFrom("a", "b"), value: fc.constantFrom("x", "y", "z") });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const values = createValuesByName<string>();
      const model = new Map<string, string[]>();
      for (const { isAdded, name, value } of steps) {
        const others = (model.get(name) ?? []).filter((one) => one !== value);
        model.set(name, isAdded ? [...others, value] : others);
        if (isAdded) values.add(name, value);
        else values.remove(name, value);
        assert.deepEqual([...values.all(name)], model.get(name));
        assert.equal(values.newest(name), model.get(name)?.at(-1));
      }
      values.clear();
      assert.deepEqual([...values.all("a")], []);
    }),
  );
});
