import type { RequestView, ResponseView } from "../views.ts";

/** Readers give undefined where the value is missing: every comparison with it is false (waf.md). */
type Read<T> = (request: RequestView, response: ResponseView | null) => T | undefined;

/** `addresses` and strings are text; strings hold one char per byte. */
export type Field = {
  readonly name: string;
  /** Response fields exist in the response phases only. */ readonly side: "request" | "response";
} & (
  | { readonly type: "string"; readonly read: Read<string> }
  | { readonly type: "integer"; readonly read: Read<number> }
  | { readonly type: "boolean"; readonly read: Read<boolean> }
  | { readonly type: "address"; readonly read: Read<string> }
  /** Lists of strings by name; the name arrives in lower case. */
  | { readonly type: "headers"; readonly read: (request: RequestView, response: ResponseView | null, name: string) => readonly string[] }
);

const uri = (request: RequestView): string => (request.query === "" ? request.path : `${request.path}?${request.query}`);

export const FIELDS: readonly Field[] = [
  { name: "cf.ray_id", side: "request", type: "string", read: (request) => request.ray_id },
  { name: "cf.zone.name", side: "request", type: "string", read: (request) => request.zone_name },
  { name: "http.cookie", side: "request", type: "string", read: (request) => request.headers("cookie").join("; ") },
  { name: "http.host", side: "request", type: "string", read: (request) => request.host },
  { name: "http.referer", side: "request", type: "string", read: (request) => request.headers("referer")[0] ?? "" },
  {
    name: "http.request.full_uri",
    side: "request",
    type: "string",
    read: (request) => `${request.scheme}://${request.host}${uri(request)}`,
  },
  { name: "http.request.headers", side: "request", type: "headers", read: (request, _response, name) => request.headers(name) },
  { name: "http.request.method", side: "request", type: "string", read: (request) => request.method },
  { name: "http.request.uri", side: "request", type: "string", read: uri },
  { name: "http.request.uri.path", side: "request", type: "string", read: (request) => request.path },
  { name: "http.request.uri.query", side: "request", type: "string", read: (request) => request.query },
  { name: "http.user_agent", side: "request", type: "string", read: (request) => request.user_agent },
  { name: "http.x_forwarded_for", side: "request", type: "string", read: (request) => request.headers("x-forwarded-for").join(", ") },
  { name: "ip.src", side: "request", type: "address", read: (request) => request.client_ip },
  { name: "ssl", side: "request", type: "boolean", read: (request) => request.scheme === "https" },
  { name: "http.response.code", side: "response", type: "integer", read: (_request, response) => response?.status },
  { name: "http.response.content_type.media_type", side: "response", type: "string", read: (_request, response) => response?.content_type },
  { name: "http.response.headers", side: "response", type: "headers", read: (_request, response, name) => response?.headers(name) ?? [] },
];

const BY_NAME: ReadonlyMap<string, Field> = new Map(FIELDS.map((field) => [field.name, field]));

export const fieldNamed = (name: string): Field | undefined => BY_NAME.get(name);
