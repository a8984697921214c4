import type { TSchema } from "typebox";
import { publicSchema } from "#api/openapi/public-schema.ts";
import { RESOURCES } from "#api/routes/table.ts";
import type { Route } from "#api/route.ts";
import { code, type Page, page, pathTemplate, table } from "./page.ts";

/** The part of a JSON schema that the reference shows. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
}

const FOLDER = "docs/reference/api";
const SOURCE = "the route table, src/api/routes/";
const NOTE =
  "Paths are below the base address, which ends with `/client/v4`. Every answer has the envelope `result`, `success`, `errors`, `messages`.";

export function apiPages(): readonly Page[] {
  const parts = RESOURCES.flatMap(({ name, routes }) => [`## [${name}](${slug(name)}.md)`, routeTable(routes, `${slug(name)}.md`)]);
  return [
    page(`${FOLDER}/README.md`, "Management API", SOURCE, NOTE, ...parts),
    ...RESOURCES.map(({ name, routes }) =>
      page(`${FOLDER}/${slug(name)}.md`, name, SOURCE, NOTE, routeTable(routes, ""), ...routes.map(section)),
    ),
  ];
}

const routeTable = (routes: readonly Route[], file: string): string =>
  table(
    ["Method", "Path", "What it does"],
    routes.map((row) => [row.method, code(pathTemplate(row.path)), `[${row.summary}](${file}#${row.id})`]),
  );

const slug = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

function section(row: Route): string {
  const parts = [`<a id="${row.id}"></a>\n\n## ${row.summary}`, code(`${row.method} ${pathTemplate(row.path)}`)];
  if (row.permissions.length > 0) parts.push(`Permission, any of: ${row.permissions.join(", ")}.`);
  if (row.query) parts.push(`### Query\n\n${fields(row.query, "Required")}`);
  if (row.body) parts.push(`### ${row.body_type ? "Form (multipart/form-data)" : "Body"}\n\n${fields(row.body, "Required")}`);
  parts.push(
    row.paging === "raw"
      ? `### Answer\n\n${code(row.media_type ?? "")}, without the envelope.`
      : `### Result${row.paging === "one" ? "" : ", each item"}\n\n${fields(row.result, "Always there")}`,
  );
  return parts.join("\n\n");
}

function fields(schema: TSchema, necessity: string): string {
  const shown = publicSchema(schema) as Schema;
  const { properties, required = [] } = shown;
  if (!properties) return typeName(shown);
  const rows = Object.entries(properties).map(([name, field]) => [
    code(name),
    typeName(field),
    required.includes(name) ? "yes" : "",
    field.description ?? "",
  ]);
  return table(["Field", "Type", necessity, ""], rows);
}

function typeName(schema: Schema): string {
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum) return schema.enum.map((value) => code(JSON.stringify(value))).join(" or ");
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeName))].join(" or ");
  if (schema.type === "array") return `array of ${schema.items ? typeName(schema.items) : "any"}`;
  return schema.type ?? "any";
}
