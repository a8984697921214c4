import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { createResponseStore } from "./response-store.ts";
import { StoredResponse } from "./stored-response.ts";

const response = (key: string, length: number, secondary = ""): StoredResponse => {
  const asked = { zoneId: "z", key, apart: "", scheme: "http", host: "a", port: null, path: "/", query: "", purges: 0 };
  const freshness = { bornMs: 0, freshUntilMs: 0, refreshUntilMs: 0, spareUntilMs: 0, mustValidate: false };
  const vary = secondary === "" ? [] : ["a"];
  return new StoredResponse(
    asked,
    "OK",
    { status: 200, fields: [], freshness, etag: null, lastModified: null, vary, tags: [] },
    secondary,
    length,
  );
};

const createStore = (bytesMax: number) => createResponseStore([{ max: bytesMax, weightOf: ({ weight }) => weight }]);

test("a response replaces the one with the same keys, and comes before the other variants of its key", () => {
  const store = createStore(100_000);
  const [one, other, newer] = [response("a", 10, "x"), response("a", 10, "y"), response("a", 20, "x")];
  for (const each of [one, other, newer]) store.put(each);
  assert.deepEqual(store.find("a"), [newer, other]);
  assert.equal(store.size, 2);
  store.remove(newer);
  store.remove(newer);
  assert.deepEqual(store.find("a"), [other]);
});

test("eviction keeps responses that were used since its last round, and evicts the others first", () => {
  const store = createStore(10 * response("0", 1000).weight);
  const responses = Array.from({ length: 10 }, (_, i) => response(String(i), 1000));
  responses.forEach(store.put);
  for (const used of [0, 3, 9]) responses[used]!.visited = true;
  for (let i = 0; i < 7; i++) store.put(response(`n${i}`, 900));
  assert.deepEqual(
    responses.filter(({ isStored }) => isStored).map(({ asked }) => asked.key),
    ["0", "3", "9"],
  );
});

test("a response larger than the store is not stored and evicts nothing", () => {
  const store = createStore(10_000);
  const small = response("a", 100);
  store.put(small);
  store.put(response("b", 10_000));
  assert.equal(small.isStored, true);
  assert.deepEqual(store.find("b"), []);
});

test("a key has a bounded number of variants, and unused variants do not evict used ones", () => {
  const store = createStore(10_000_000);
  const used = response("a", 10, "used");
  store.put(used);
  used.visited = true;
  for (let i = 0; i < 1000; i++) store.put(response("a", 10, `invented ${i}`));
  assert.ok(store.find("a").length <= 32);
  assert.ok(store.find("a").includes(used));
});

test("after any operations, the store matches its keys and its size limit", () => {
  const step = fc.record({
    what: fc.constantFrom("put", "put", "put", "use", "remove", "sweep"),
    key: fc.integer({ min: 0, max: 12 }),
    length: fc.integer({ min: 0, max: 4000 }),
    secondary: fc.constantFrom("", "x", "y"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const bytesMax = 20_000;
      const store = createStore(bytesMax);
      for (const { what, key, length, secondary } of steps) {
        const found = store.find(String(key));
        if (what === "put") store.put(response(String(key), length, secondary));
        else if (what === "use" && found[0]) found[0].visited = true;
        else if (what === "remove" && found[0]) store.remove(found[0]);
        else if (what === "sweep") store.sweep(({ asked }) => asked.key === String(key));
        const all = Array.from({ length: 13 }, (_, i) => store.find(String(i))).flat();
        assert.equal(all.length, store.size);
        assert.equal(
          all.reduce((sum, { weight }) => sum + weight, 0),
          store.used,
        );
        assert.ok(store.used <= bytesMax);
        assert.ok(all.every(({ isStored }) => isStored));
      }
    }),
    { numRuns: 200 },
  );
});
