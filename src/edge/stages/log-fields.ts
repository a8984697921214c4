import type { LoggedFields } from "#events/rows/rows.ts";
import type { Match } from "#rules/engine/compiled-rule.ts";
import type { ResponseView } from "#rules/views.ts";
import { parseCookies } from "#wire/http/cookies.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";

/** As the rules' own shapes let them through. */
interface LogParameters {
  readonly cookie_fields?: readonly Named[];
  readonly request_fields?: readonly Named[];
  readonly transformed_request_fields?: readonly Named[];
  readonly response_fields?: readonly Named[];
  readonly raw_response_fields?: readonly Named[];
}

interface Named {
  readonly name: string;
  readonly preserve_duplicates?: boolean;
}

/** A row holds so much of what is logged, and so much of one value: longer ones are cut, later ones left out. */
const VALUE_LENGTH_MAX = 2048;
const ROW_LENGTH_MAX = 16_384;

type Fields = Record<string, string | readonly string[]>;
type Read = (name: string) => readonly string[];

/** Adds what a rule wants written down to what rules before it wanted. */
export function logFields(exchange: Exchange, { action_parameters: parameters }: Match, response: ResponseView): void {
  const wanted = parameters as LogParameters;
  const cookies = wanted.cookie_fields === undefined ? null : parseCookies(exchange.receivedHeaders("cookie"));
  const header =
    (read: Read): Read =>
    (name) =>
      read(name.toLowerCase()).map((value) => withoutCookies(name.toLowerCase(), value));
  const sources: readonly (readonly [kind: keyof LoggedFields, names: readonly Named[] | undefined, read: Read])[] = [
    ["cookies", wanted.cookie_fields, (name) => cookies?.get(name) ?? []],
    ["request_headers", wanted.request_fields, header((name) => exchange.receivedHeaders(name))],
    ["transformed_request_headers", wanted.transformed_request_fields, header((name) => exchange.headers(name))],
    ["response_headers", wanted.response_fields, header((name) => response.headers(name))],
    ["raw_response_headers", wanted.raw_response_fields, header((name) => (response.raw ?? response).headers(name))],
  ];
  const logged: Record<string, Fields> = { ...(exchange.loggedFields as Record<string, Fields> | null) };
  let left = ROW_LENGTH_MAX - JSON.stringify(logged).length;
  for (const [kind, names = [], read] of sources) {
    for (const { name, preserve_duplicates: all } of names) {
      const values = read(name).map(readable);
      const value = all === true ? values : values[0];
      left -= name.length + JSON.stringify(value ?? "").length;
      if (value === undefined || left < 0) continue;
      // few: the names of one rule
      logged[kind] = { ...logged[kind], [kind === "cookies" ? name : name.toLowerCase()]: value };
    }
  }
  exchange.loggedFields = logged;
}

/** The names of cookies, without what they are worth: cookies are logged by their own names. */
function withoutCookies(name: string, value: string): string {
  if (name === "cookie") return value.replace(/=[^;]*/g, "=[redacted]");
  return name === "set-cookie" ? value.replace(/=[^;]*/, "=[redacted]") : value;
}

/** Bytes that are UTF-8 as text. */
const readable = (bytes: string): string => Buffer.from(bytes.slice(0, VALUE_LENGTH_MAX), "latin1").toString();
