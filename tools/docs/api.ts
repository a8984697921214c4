import type { TSchema } from "typebox";
import { ROUTES } from "#api/routes/table.ts";
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

export function apiPages(): readonly Page[] {
  const index = table(
    ["Method", "Path", "What it does", "Permission, any of"],
    ROUTES.map((row) => [row.method, code(pathTemplate(row.path)), `[${row.summary}](#${row.id})`, row.permissions.join(", ")]),
  );
  const note =
    "Paths are below the base address, which ends with `/client/v4`. Every answer has the envelope `result`, `success`, `errors`, `messages`.";
  return [page("docs/reference/api.md", "Management API", "the route table, src/api/routes/", note, index, ...ROUTES.map(section))];
}

function section(row: Route): string {
  const parts = [`<a id="${row.id}"></a>\n\n## ${row.summary}`, code(`${row.method} ${pathTemplate(row.path)}`)];
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
  const { properties, required = [] } = schema as Schema;
  if (!properties) return typeName(schema as Schema);
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
