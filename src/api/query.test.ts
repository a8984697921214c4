import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../test/support/property.ts";
import { Type } from "typebox";
import { PlatformError } from "#kernel/errors/errors.ts";
import { PlatformErrors } from "./failure.ts";
import { readPage } from "./paging.ts";
import { compileQuery } from "./query.ts";

const read = compileQuery(
  Type.Object({
    "name.contains": Type.Optional(Type.String({ maxLength: 10 })),
    count: Type.Optional(Type.Integer({ minimum: 1 })),
    on: Type.Optional(Type.Boolean()),
    one_or_many: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    many: Type.Optional(Type.Array(Type.Integer())),
    order: Type.Optional(Type.Enum(["asc", "desc"])),
  }),
);

const place = (query: Record<string, string | string[]>): string | undefined => {
  try {
    read(query);
    return undefined;
  } catch (error) {
    return error instanceof PlatformErrors ? error.items[0]?.source : error instanceof PlatformError ? error.source : "";
  }
};

test("parameters are converted to the types of the schema", () => {
  assert.deepEqual(read({ "name.contains": "7", count: "3", on: "true", one_or_many: "a", many: "4", order: "asc" }), {
    "name.contains": "7",
    count: 3,
    on: true,
    one_or_many: "a",
    many: [4],
    order: "asc",
  });
  assert.deepEqual(read({ on: "0", one_or_many: ["a", "b"], many: ["1", "2"] }), { on: false, one_or_many: ["a", "b"], many: [1, 2] });
  assert.deepEqual(read({ unknown: "x", __proto__: "y" } as never), {});
});

test("an unknown parameter is refused if ignoring it would select everything", () => {
  const strict = compileQuery(Type.Object({ host: Type.Optional(Type.String()) }), "invalid_input", ["page", "per_page"]);
  assert.deepEqual(strict({ host: "a.example", page: "2" }), { host: "a.example" });
  for (const name of ["hots", "Host", "host[]", "constructor", ""])
    assert.throws(
      () => strict({ [name]: "a.example" }),
      (error) => error instanceof PlatformError && error.source === `/${name}` && error.message.includes("host, page, per_page"),
    );
});

test("invalid values are refused with the parameter's name", () => {
  assert.equal(place({ count: "0" }), "/count");
  assert.equal(place({ count: "three" }), "/count");
  assert.equal(place({ count: "1e3" }), "/count");
  assert.equal(place({ on: "yes" }), "/on");
  assert.equal(place({ order: "up" }), "/order");
  assert.equal(place({ count: ["1", "2"] }), "/count");
  assert.equal(place({ "name.contains": "x".repeat(11) }), "/name.contains");
  assert.equal(place({ count: "1" }), undefined);
  assert.equal(place({ many: Array.from({ length: 1000 }, () => "1") }), undefined);
  assert.equal(place({ many: Array.from({ length: 1001 }, () => "1") }), "/many");
});

test("property: every query string is parsed or gets an error", () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom("count", "on", "many", "order", "one_or_many", "name.contains", "page"),
        fc.oneof(fc.string(), fc.array(fc.string(), { minLength: 2, maxLength: 3 })),
      ),
      (query) => {
        try {
          read(query);
          readPage(query, undefined);
        } catch (error) {
          assert.ok(error instanceof PlatformError || error instanceof PlatformErrors);
        }
      },
    ),
  );
});

test("a page size outside the limits is set to the nearest one, and non-numbers are refused", () => {
  assert.deepEqual(readPage({}, undefined), { page: 1, per_page: 20 });
  assert.deepEqual(readPage({ page: "3", per_page: "500" }, { default: 20, max: 50, min: 5 }), { page: 3, per_page: 50 });
  assert.deepEqual(readPage({ per_page: "1" }, { default: 20, max: 50, min: 5 }), { page: 1, per_page: 5 });
  for (const query of [{ page: "0" }, { page: "-1" }, { page: "x" }, { per_page: "" }, { per_page: "1.5" }, { page: ["1", "2"] }])
    assert.throws(() => readPage(query, undefined), PlatformError);
});
