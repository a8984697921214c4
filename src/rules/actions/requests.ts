import { byPlace, flag, isObject, map, object, oneOf, problem, type Shape, text, whole } from "#rules/parameters/shape.ts";
import { source } from "#rules/parameters/values.ts";
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
    path: source({ pattern: /^\/[\x21-\x7e]*$/, what: "a path that starts with / and contains only visible characters" }),
    query: source({ pattern: /^[\x21-\x7e]*$/, what: "a query of visible characters, without the question mark", empty: true }),
  },
  { some: ["path", "query"] },
);

const HEADER_VALUE = { pattern: /^[\t\x20-\x7e\x80-\u{10ffff}]*$/u, what: "a value that a header field may have" };

/** `set` and `add` need a value; `remove` must not have one. */
const headerEdit: Shape = (value, at, place) => {
  const removes = isObject(value) && value["operation"] === "remove";
  const operation = oneOf("set", "add", "remove");
  if (removes) return object({ operation })(value, at, place);
  const members = { operation, value: text(HEADER_VALUE), expression: source(HEADER_VALUE) };
  if (!isObject(value)) return [problem(at, "the change to a header must be an object")];
  const { operation: given, ...rest } = value;
  const written = source(HEADER_VALUE)(rest, at, place);
  return given === undefined
    ? [problem(at, "needs operation"), ...written]
    : [...members.operation(given, `${at}/operation`, place), ...written];
};

/** Fields that frame messages, identify the visitor, or belong to one connection. */
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
  return [...problems, ...kept.map((name) => problem(`${at}/${name}`, `the edge controls the header ${name}, so rules cannot change it`))];
};

/** Each rewriting phase changes one part of the message. */
export const rewrite: Shape = byPlace(({ phase }) =>
  phase === "http_request_transform" ? object({ uri }, { required: ["uri"] }) : object({ headers }, { required: ["headers"] }),
);

/** Settings that a rule can change for a request. */
export const SETTABLE = ["ssl", "cache_level", "browser_cache_ttl", "sort_query_string_for_cache"] as const;

const SETTINGS = {
  ssl: oneOf("off", "flexible", "full", "strict"),
  cache_level: oneOf("basic", "simplified", "aggressive"),
  browser_cache_ttl: whole(0, 31_536_000),
  sort_query_string_for_cache: flag,
} as const satisfies Readonly<Record<(typeof SETTABLE)[number], Shape>>;

const REWRITING = "bodies are not rewritten in this way";
const OF_THE_ZONE = "it is a setting of the whole zone";
const NO_PRODUCT = "this installation does not have this product";

/** Vendor settings that are fixed here: a rule may name them, but only with this value. */
const FIXED: Readonly<Record<string, readonly [value: unknown, why: string]>> = {
  automatic_https_rewrites: [false, REWRITING],
  autominify: [{ css: false, html: false, js: false }, OF_THE_ZONE],
  bic: [false, "the edge does not check visitors' browsers; use rules with managed_challenge"],
  content_converter: [false, REWRITING],
  disable_apps: [true, NO_PRODUCT],
  disable_pay_per_crawl: [true, NO_PRODUCT],
  disable_rum: [true, NO_PRODUCT],
  disable_zaraz: [true, NO_PRODUCT],
  email_obfuscation: [false, REWRITING],
  fonts: [false, REWRITING],
  hotlink_protection: [false, "use a rule on the Referer header"],
  mirage: [false, REWRITING],
  opportunistic_encryption: [false, "use always_use_https of the zone"],
  polish: ["off", REWRITING],
  redirects_for_ai_training: [false, "use redirect rules"],
  request_body_buffering: ["none", "the edge streams requests"],
  response_body_buffering: ["none", "the edge streams responses"],
  rocket_loader: [false, REWRITING],
  security_level: ["off", "the edge does not score visitors; use rules with managed_challenge"],
  server_side_excludes: [false, OF_THE_ZONE],
  sxg: [false, NO_PRODUCT],
};

const fixed =
  ([known, why]: readonly [value: unknown, why: string]): Shape =>
  (value, at) =>
    isSame(value, known) ? [] : [problem(at, `${at.slice(at.lastIndexOf("/") + 1)} can only be ${JSON.stringify(known)}: ${why}`)];

/** Compares only the given members of an object. */
const isSame = (value: unknown, known: unknown): boolean =>
  isObject(value) && isObject(known) ? Object.entries(value).every(([key, member]) => known[key] === member) : value === known;

const FIXED_NAMES = Object.keys(FIXED);

export const setConfig = object(
  { ...SETTINGS, ...Object.fromEntries(FIXED_NAMES.map((name) => [name, fixed(FIXED[name]!)])) },
  { some: [...SETTABLE, ...FIXED_NAMES] },
);
