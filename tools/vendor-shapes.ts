import { readFileSync, writeFileSync } from "node:fs";
import { ROUTES } from "#api/routes/table.ts";

/**
 * Writes test/golden/vendor-shapes.json: of the OpenAPI document of the service whose API this is, the shapes of the
 * successful JSON responses of the operations that we have, without any text of it.
 * `node tools/vendor-shapes.ts DOCUMENT`.
 */
const [, , source] = process.argv;
if (source === undefined) throw new Error("usage: node tools/vendor-shapes.ts DOCUMENT");

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly nullable?: boolean;
  readonly [keyword: string]: unknown;
}
interface Operation {
  readonly responses?: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
const document = JSON.parse(readFileSync(source, "utf8")) as Document;

/** Keywords that say which values are right. `oneOf` becomes `anyOf`: its branches overlap in the document itself. */
const PLAIN = ["type", "enum", "required", "format", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems"] as const;
const shapes: Record<string, unknown> = {};

function shapeOf(schema: Schema): unknown {
  if (schema.$ref !== undefined) return { $ref: `#/$defs/${named(schema.$ref)}` };
  const shape: Record<string, unknown> = {};
  for (const key of PLAIN) if (schema[key] !== undefined) shape[key] = schema[key];
  if (schema.properties !== undefined)
    shape["properties"] = Object.fromEntries(Object.entries(schema.properties).map(([name, value]) => [name, shapeOf(value)]));
  if (schema.items !== undefined) shape["items"] = shapeOf(schema.items);
  if (typeof schema.additionalProperties === "object") shape["additionalProperties"] = shapeOf(schema.additionalProperties);
  if (schema.allOf !== undefined) shape["allOf"] = schema.allOf.map(shapeOf);
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) shape["anyOf"] = either.map(shapeOf);
  return schema.nullable === true ? { anyOf: [{ type: "null" }, shape] } : shape;
}

/** The name of a shape that others refer to, which is made once. */
function named(ref: string): string {
  const name = ref.split("/").at(-1) ?? ref;
  if (!(name in shapes)) {
    shapes[name] = {};
    const keys = ref.split("/").slice(1);
    const target = keys.reduce<unknown>(
      (at, key) => (at as Readonly<Record<string, unknown>>)[key.replaceAll("~1", "/").replaceAll("~0", "~")],
      document,
    );
    shapes[name] = shapeOf(target as Schema);
  }
  return name;
}

/** Without the names of parameters, in which the two documents differ. */
const anonymous = (path: string): string => path.replaceAll(/\{[^}]+\}|:\w+/g, "{}");
const operations = new Map<string, Operation>();
for (const [path, methods] of Object.entries(document.paths))
  for (const [method, operation] of Object.entries(methods))
    for (const level of path.includes("{accounts_or_zones}") ? ["accounts", "zones"] : [""])
      operations.set(`${method.toUpperCase()} ${anonymous(path.replace("{accounts_or_zones}", level))}`, operation);

const answers: Record<string, unknown> = {};
for (const route of ROUTES) {
  const responses = operations.get(`${route.method} ${anonymous(route.path)}`)?.responses ?? {};
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
  const schema = success?.content?.["application/json"]?.schema;
  if (schema !== undefined) answers[route.id] = shapeOf(schema);
}

/** One line for each shape. */
const lines = (object: Readonly<Record<string, unknown>>): string =>
  Object.entries(object)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, shape]) => `${JSON.stringify(name)}:${JSON.stringify(shape)}`)
    .join(",\n");
writeFileSync("test/golden/vendor-shapes.json", `{"answers":{\n${lines(answers)}\n},"$defs":{\n${lines(shapes)}\n}}\n`);
process.stdout.write(`${Object.keys(answers).length} operations, ${Object.keys(shapes).length} shapes\n`);
