import assert from "node:assert/strict";
import { test } from "node:test";
import { createStore } from "./store.ts";

test("a list of variables is made once, and again after each change of its collection alone", () => {
  const store = createStore();
  assert.deepEqual(store.entries("TX"), []);
  store.set("TX", "a", "1");
  const first = store.entries("TX");
  store.set("IP", "b", "1");
  store.remove("TX", "missing");
  assert.equal(store.entries("TX"), first);
  const copy = store.copy();
  store.add("TX", "a", 2);
  assert.deepEqual(store.entries("TX"), [{ name: "a", lower: "a", value: "3" }]);
  assert.deepEqual(copy.entries("TX"), first);
  store.remove("TX", "a");
  assert.deepEqual(store.entries("TX"), []);
  copy.set("TX", "c", "4");
  assert.deepEqual(
    copy.entries("TX").map(({ name, value }) => `${name}=${value}`),
    ["a=1", "c=4"],
  );
});
