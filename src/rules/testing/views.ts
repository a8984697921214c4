import type { HeaderFields, RequestView, ResponseView } from "#rules/views.ts";

type Headers = Readonly<Record<string, readonly string[]>>;

/** A request for tests. */
export const testRequest = (changes: Partial<Omit<RequestView, "headers">> & { readonly headers?: Headers } = {}): RequestView => ({
  ray_id: "00000000000000aa",
  zone_name: "example.com",
  method: "GET",
  scheme: "https",
  host: "www.example.com",
  path: "/a/b.html",
  query: "x=1",
  user_agent: "test/1",
  client_ip: "192.0.2.7",
  header_fields: () => fieldsOf(changes.headers),
  ...changes,
  headers: (name) => changes.headers?.[name] ?? [],
});

export const testResponse = (changes: Partial<Omit<ResponseView, "headers">> & { readonly headers?: Headers } = {}): ResponseView => ({
  status: 200,
  content_type: "text/html",
  header_fields: () => fieldsOf(changes.headers),
  ...changes,
  headers: (name) => changes.headers?.[name] ?? [],
});

function fieldsOf(headers: Headers = {}): HeaderFields {
  const rows = Object.entries(headers).flatMap(([name, values]) => values.map((value) => [name, value] as const));
  return { names: rows.map(([name]) => name), values: rows.map(([, value]) => value) };
}
