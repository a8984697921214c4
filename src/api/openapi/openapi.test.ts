import assert from "node:assert/strict";
import { test } from "node:test";
import { DEPRECATIONS } from "#deprecations/table.ts";
import { openApiDocument } from "./openapi.ts";
import { ROUTES } from "#api/routes/table.ts";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}
type Content = Readonly<Record<string, { readonly schema: Schema }>>;
interface Operation {
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

const { paths } = openApiDocument({ basePath: "/client/v4", routes: ROUTES, deprecations: DEPRECATIONS }) as {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

const COMBINED = ["anyOf", "oneOf", "allOf"] as const;

/** Calls `look` with each schema of a value, and where it is. */
function walk(schema: Schema, place: string, look: (schema: Schema, place: string) => void): void {
  look(schema, place);
  for (const [name, property] of Object.entries(schema.properties ?? {})) walk(property, `${place}.${name}`, look);
  if (schema.items) walk(schema.items, `${place}[]`, look);
  for (const keyword of COMBINED) for (const part of (schema[keyword] ?? []) as readonly Schema[]) walk(part, place, look);
}

const schemasOf = (content: Content = {}): Schema[] => Object.values(content).map(({ schema }) => schema);
const bodiesOf = ({ requestBody }: Operation): Schema[] => schemasOf(requestBody?.content);

test("every field of every body and every result has a type", () => {
  const untyped: string[] = [];
  let fields = 0;
  for (const { name, operation } of operations) {
    const results = Object.entries(operation.responses).flatMap(([status, { content }]) =>
      status.startsWith("2") ? schemasOf(content) : [],
    );
    for (const schema of [...bodiesOf(operation), ...results])
      walk(schema, "", (part, place) => {
        fields += 1;
        const isTyped = ["type", "enum", "const", "$ref", ...COMBINED].some((keyword) => part[keyword] !== undefined);
        if (!isTyped) untyped.push(`${name} ${place}`);
      });
  }
  assert.deepEqual(untyped, []);
  assert.ok(fields > 5_000, `${fields} fields`);
});

test("every operation declares its errors with the envelope", () => {
  for (const { name, operation } of operations) {
    assert.deepEqual(operation.responses["4XX"], { $ref: "#/components/responses/Failure" }, name);
    assert.ok(
      Object.keys(operation.responses).some((status) => status.startsWith("2")),
      name,
    );
  }
});

test("required names are fields, and the fields of the use cases are required", () => {
  const required = new Map<string, readonly string[]>();
  for (const { name, operation } of operations)
    for (const body of bodiesOf(operation)) {
      required.set(name, body.required ?? []);
      walk(body, name, (part, place) => {
        const { properties } = part;
        if (properties === undefined) return;
        for (const field of part.required ?? []) assert.ok(properties[field] !== undefined, `${place} ${field}`);
      });
    }
  assert.deepEqual(required.get("POST /zones/{zone_id}/custom_hostnames"), ["hostname"]);
  assert.deepEqual(required.get("PUT /zones/{zone_id}/custom_hostnames/fallback_origin"), ["origin"]);
  assert.equal(JSON.stringify(paths).includes("x-documented"), false);
});
