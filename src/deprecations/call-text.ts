import type { WrittenCall } from "./rewrite.ts";

/** The call as a curl command; the reader sets `$API` and `$TOKEN`. */
export function curlOf({ method, path, query, body }: WrittenCall): string {
  const url = `"$API"${quoted(`${path}${queryText(query)}`)}`;
  const parts = ["curl", "-X", method, "-H", '"Authorization: Bearer $TOKEN"', url];
  if (body !== undefined) parts.push("-H", quoted("Content-Type: application/json"), "-d", quoted(JSON.stringify(body)));
  return parts.join(" ");
}

/** The call in the vendor's TypeScript SDK, whose client has a method per HTTP method for any path. */
export function sdkOf({ method, path, query, body }: WrittenCall): string {
  const options = { ...(Object.keys(query).length === 0 ? {} : { query }), ...(body === undefined ? {} : { body }) };
  const rest = Object.keys(options).length === 0 ? "" : `, ${JSON.stringify(options)}`;
  return `client.${method.toLowerCase()}(${JSON.stringify(path)}${rest})`;
}

/** Quotes for a POSIX shell, where only the quote itself is special. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function queryText(query: WrittenCall["query"]): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) search.append(name, one as string);
  return search.size === 0 ? "" : `?${search.toString()}`;
}
