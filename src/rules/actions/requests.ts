import { byPlace, flag, isObject, map, object, oneOf, problem, type Shape, text, unavailable, whole } from "../parameters.ts";
import { source } from "../values.ts";
import { HOST } from "./answers.ts";

export const route = object(
  {
    host_header: text({ pattern: HOST, what: "a host name" }),
    origin: object({ host: text({ pattern: HOST, what: "a host name" }), port: whole(1, 65_535) }, { some: ["host", "port"] }),
    sni: object({ value: text({ pattern: HOST, what: "a host name" }) }, { required: ["value"] }),
  },
  { some: ["host_header", "origin", "sni"] },
);

const uri = object(
  {
    path: source({ pattern: /^\/[\x21-\x7e]*$/, what: "a path that begins with / and holds visible characters only" }),
    query: source({ pattern: /^[\x21-\x7e]*$/, what: "a query of visible characters, without the question mark", empty: true }),
  },
  { some: ["path", "query"] },
);

const HEADER_VALUE = { pattern: /^[\t\x20-\x7e\x80-\u{10ffff}]*$/u, what: "a value that a header field may have" };

/** What writes a value needs one; what removes the field must not have any. */
const headerEdit: Shape = (value, at, place) => {
  const removes = isObject(value) && value["operation"] === "remove";
  const operation = oneOf("set", "add", "remove");
  if (removes) return object({ operation })(value, at, place);
  const members = { operation, value: text(HEADER_VALUE), expression: source(HEADER_VALUE) };
  if (!isObject(value)) return [problem(at, "a header's change must be an object")];
  const { operation: given, ...rest } = value;
  const written = source(HEADER_VALUE)(rest, at, place);
  return given === undefined
    ? [problem(at, "needs operation"), ...written]
    : [...members.operation(given, `${at}/operation`, place), ...written];
};

/** Fields that frame messages, say who the visitor is, or belong to one connection. */
const KEPT_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "cdn-loop",
  "x-forwarded-for",
  "x-forwarded-proto",
]);

const headers: Shape = (value, at, place) => {
  const problems = map({ pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/, what: "the name of a header field" }, headerEdit)(
    value,
    at,
    place,
  );
  if (!isObject(value)) return problems;
  const kept = Object.keys(value).filter((name) => KEPT_HEADERS.has(name.toLowerCase()) || /^cf-/i.test(name));
  return [...problems, ...kept.map((name) => problem(`${at}/${name}`, `the header ${name} is the edge's own and cannot be changed`))];
};

/** Each of the phases that rewrite has its own part of the message. */
export const rewrite: Shape = byPlace(({ phase }) =>
  phase === "http_request_transform" ? object({ uri }, { required: ["uri"] }) : object({ headers }, { required: ["headers"] }),
);

/** Settings that a request may have otherwise than its zone. */
export const SETTABLE = ["ssl", "cache_level", "browser_cache_ttl", "sort_query_string_for_cache"] as const;

const SETTINGS = {
  ssl: oneOf("off", "flexible", "full", "strict"),
  cache_level: oneOf("basic", "simplified", "aggressive"),
  browser_cache_ttl: whole(0, 31_536_000),
  sort_query_string_for_cache: flag,
} as const satisfies Readonly<Record<(typeof SETTABLE)[number], Shape>>;

/** Known to the interface; nothing of them exists here. */
const SETTINGS_ELSEWHERE = [
  "automatic_https_rewrites",
  "autominify",
  "bic",
  "content_converter",
  "disable_apps",
  "disable_pay_per_crawl",
  "disable_rum",
  "disable_zaraz",
  "email_obfuscation",
  "fonts",
  "hotlink_protection",
  "mirage",
  "opportunistic_encryption",
  "polish",
  "redirects_for_ai_training",
  "request_body_buffering",
  "response_body_buffering",
  "rocket_loader",
  "security_level",
  "server_side_excludes",
  "sxg",
];

export const setConfig = object(
  { ...SETTINGS, ...Object.fromEntries(SETTINGS_ELSEWHERE.map((name) => [name, unavailable])) },
  { some: [...SETTABLE, ...SETTINGS_ELSEWHERE] },
);
