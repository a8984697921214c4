import type { WrittenCall } from "./rewrite.ts";

/** A call as a command; `$API` and `$TOKEN` are the reader's. */
export function curlOf({ method, path, query, body }: WrittenCall): string {
  const url = `"$API"${quoted(`${path}${queryText(query)}`)}`;
  const parts = ["curl", "-X", method, "-H", '"Authorization: Bearer $TOKEN"', url];
  if (body !== undefined) parts.push("-H", quoted("Content-Type: application/json"), "-d", quoted(JSON.stringify(body)));
  return parts.join(" ");
}

/** The same for the vendor's SDK for TypeScript, whose client has these methods for every path. */
export function sdkOf({ method, path, query, body }: WrittenCall): string {
  const options = { ...(Object.keys(query).length === 0 ? {} : { query }), ...(body === undefined ? {} : { body }) };
  const rest = Object.keys(options).length === 0 ? "" : `, ${JSON.stringify(options)}`;
  return `client.${method.toLowerCase()}(${JSON.stringify(path)}${rest})`;
}

/** For a POSIX shell: nothing in it is special but the quote itself. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function queryText(query: WrittenCall["query"]): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) search.append(name, one as string);
  return search.size === 0 ? "" : `?${search.toString()}`;
}
