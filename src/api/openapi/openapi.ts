import { type TSchema, Type } from "typebox";
import type { Deprecation } from "#deprecations/deprecation.ts";
import { publicSchema } from "./public-schema.ts";
import { PER_PAGE_DEFAULT, PER_PAGE_MAX } from "#api/paging.ts";
import type { Route } from "#api/route.ts";

export interface OpenApiInput {
  readonly basePath: string;
  readonly routes: readonly Route[];
  readonly deprecations: readonly Deprecation[];
}

/** The OpenAPI 3.1 document of the route table. Schemas are already JSON Schema. */
export function openApiDocument({ basePath, routes, deprecations }: OpenApiInput): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(route, deprecations);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Selvedge management API", version: "4", license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    servers: [{ url: basePath }],
    security: [{ token: [] }, { email: [], key: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        email: { type: "apiKey", in: "header", name: "X-Auth-Email" },
        key: { type: "apiKey", in: "header", name: "X-Auth-Key" },
      },
      schemas: { Error: ERROR, Failure: envelope(Type.Null(), false) },
      responses: {
        Failure: { description: "The call failed; `errors` says why.", content: json({ $ref: "#/components/schemas/Failure" }) },
      },
    },
  };
}

const ERROR = {
  type: "object",
  required: ["code", "message"],
  properties: {
    code: { type: "integer", minimum: 1000 },
    message: { type: "string" },
    documentation_url: { type: "string" },
    source: { type: "object", properties: { pointer: { type: "string", description: "JSON pointer into the request body." } } },
    error_chain: { type: "array", items: { $ref: "#/components/schemas/Error" } },
  },
};

const MESSAGE = { type: "object", required: ["code", "message"], properties: { code: { type: "integer" }, message: { type: "string" } } };

const RESULT_INFO = {
  type: "object",
  required: ["page", "per_page", "count", "total_count", "total_pages"],
  properties: {
    ...Object.fromEntries(["page", "per_page", "count", "total_count", "total_pages"].map((name) => [name, { type: "integer" }])),
    total_count_is_estimate: {
      type: "boolean",
      description: "Present, and true, if so many rows match that the server counted only a part of them.",
    },
  },
};

const CURSOR_INFO = {
  type: "object",
  properties: {
    cursors: { type: "object", properties: { after: { type: "string", description: "Absent on the last page." } } },
    cursor: { type: "string", description: "The same." },
  },
};

function operation(route: Route, deprecations: readonly Deprecation[]): object {
  const rows = deprecations.filter((row) => row.routes.includes(`${route.method} ${route.path}`));
  return {
    operationId: route.id,
    summary: route.summary,
    tags: [route.path.split("/").findLast((part) => part !== "" && !part.startsWith(":")) ?? ""],
    parameters: [...pathParameters(route), ...queryParameters(route)],
    ...(route.body
      ? { requestBody: { required: true, content: route.body_type ? form(publicSchema(route.body)) : json(publicSchema(route.body)) } }
      : {}),
    responses: {
      [String(route.status ?? 200)]: {
        description: "The call succeeded.",
        ...(route.status === 204 ? {} : { content: answerContent(route) }),
      },
      "4XX": { $ref: "#/components/responses/Failure" },
      default: { $ref: "#/components/responses/Failure" },
    },
    "x-permissions": route.permissions,
    ...(rows.length === 0 ? {} : { "x-deprecations": rows.map(({ id, date, replacement, was }) => ({ id, date, replacement, was })) }),
  };
}

function answerContent({ paging, result: checked, media_type }: Route): object {
  const result = publicSchema(checked);
  if (paging === "raw") return { [media_type ?? "application/octet-stream"]: { schema: result } };
  return json(
    envelope(
      paging === "one" ? result : { type: "array", items: result },
      true,
      paging === "page" ? RESULT_INFO : paging === "cursor" ? CURSOR_INFO : null,
    ),
  );
}

const form = (schema: unknown): object => ({ "multipart/form-data": { schema } });
const json = (schema: unknown): object => ({ "application/json": { schema } });

const envelope = (result: unknown, success: boolean, info: object | null = null): object => ({
  type: "object",
  required: ["result", "success", "errors", "messages", ...(info ? ["result_info"] : [])],
  properties: {
    result,
    success: { const: success },
    errors: { type: "array", items: { $ref: "#/components/schemas/Error" } },
    messages: { type: "array", items: MESSAGE },
    ...(info ? { result_info: info } : {}),
  },
});

const pathParameters = (route: Route): readonly object[] =>
  [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: "path", required: true, schema: { type: "string" } }));

function queryParameters(route: Route): readonly object[] {
  const properties = route.query && "properties" in route.query ? (route.query.properties as Record<string, TSchema>) : {};
  const required = route.query && "required" in route.query ? (route.query.required as string[]) : [];
  const named = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
    explode: true,
  }));
  if (route.dry_run) named.push({ name: "dry_run", in: "query", required: false, schema: { type: "boolean" }, explode: true });
  if (route.paging !== "page" && route.paging !== "cursor") return named;
  const bounds = route.per_page;
  return [
    ...named,
    route.paging === "page"
      ? { name: "page", in: "query", required: false, schema: { type: "integer", minimum: 1, default: 1 } }
      : { name: "cursor", in: "query", required: false, schema: { type: "string" } },
    {
      name: "per_page",
      in: "query",
      required: false,
      schema: {
        type: "integer",
        minimum: bounds?.min ?? 1,
        maximum: bounds?.max ?? PER_PAGE_MAX,
        default: bounds?.default ?? PER_PAGE_DEFAULT,
      },
    },
  ];
}
