import type { WrittenCall } from "./rewrite.ts";

/** The call as a curl command; the reader sets `$API` and `$TOKEN`. */
export function curlOf({ method, path, query, body, causes }: WrittenCall): string {
  const url = `"$API"${quoted(`${path}${queryText(query)}`)}`;
  const parts = ["curl", "-X", method, "-H", '"Authorization: Bearer $TOKEN"', url];
  if (body !== undefined) parts.push("-H", quoted("Content-Type: application/json"), "-d", quoted(JSON.stringify(body)));
  if (causes !== undefined) parts.push("|", "jq", quoted(CAUSES[causes].jq));
  return parts.join(" ");
}

/** The call in the vendor's TypeScript SDK, whose client has a method per HTTP method for any path. */
export function sdkOf({ method, path, query, body, causes }: WrittenCall): string {
  const options = { ...(Object.keys(query).length === 0 ? {} : { query }), ...(body === undefined ? {} : { body }) };
  const rest = Object.keys(options).length === 0 ? "" : `, ${JSON.stringify(options)}`;
  const call = `client.${method.toLowerCase()}(${JSON.stringify(path)}${rest})`;
  return causes === undefined ? call : `${call}.catch(({ errors }) => ${CAUSES[causes].sdk})`;
}

/** The list of a refusal's causes, each with its code and message. */
const CAUSES = {
  errors: { jq: "[.errors[] | {code, message}]", sdk: "errors.map(({ code, message }) => ({ code, message }))" },
  error_chain: {
    jq: "[.errors[].error_chain[] | {code, message}]",
    sdk: "errors.flatMap(({ error_chain }) => error_chain).map(({ code, message }) => ({ code, message }))",
  },
} as const satisfies Record<NonNullable<WrittenCall["causes"]>, { readonly jq: string; readonly sdk: string }>;

/** Quotes for a POSIX shell, where only the quote itself is special. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function queryText(query: WrittenCall["query"]): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) search.append(name, one as string);
  return search.size === 0 ? "" : `?${search.toString()}`;
}
