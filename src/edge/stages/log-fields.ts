import type { LoggedFields } from "#events/rows/rows.ts";
import type { Match } from "#rules/engine/compiled-rule.ts";
import type { ResponseView } from "#rules/views.ts";
import { parseCookies } from "#wire/http/cookies.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";

/** Parameters as validated by the rule engine. */
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

/** Characters of one logged value, and of all logged fields of a row: longer values are cut, further ones left out. */
const VALUE_LENGTH_MAX = 2048;
const ROW_LENGTH_MAX = 16_384;

type Fields = Record<string, string | readonly string[]>;
type Read = (name: string) => readonly string[];

/** Adds the fields that a rule logs to those of earlier rules. */
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

/** Hides the values of cookies here: they are logged only by their own names. */
function withoutCookies(name: string, value: string): string {
  if (name === "cookie") return value.replace(/=[^;]*/g, "=[redacted]");
  return name === "set-cookie" ? value.replace(/=[^;]*/, "=[redacted]") : value;
}

/** Decodes UTF-8 bytes. */
const readable = (bytes: string): string => Buffer.from(bytes.slice(0, VALUE_LENGTH_MAX), "latin1").toString();
