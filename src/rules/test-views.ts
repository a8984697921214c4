import type { RequestView, ResponseView } from "./views.ts";

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
  ...changes,
  headers: (name) => changes.headers?.[name] ?? [],
});

export const testResponse = (changes: Partial<Omit<ResponseView, "headers">> & { readonly headers?: Headers } = {}): ResponseView => ({
  status: 200,
  content_type: "text/html",
  ...changes,
  headers: (name) => changes.headers?.[name] ?? [],
});
