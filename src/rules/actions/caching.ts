import {
  array,
  byPlace,
  flag,
  isObject,
  map,
  object,
  oneOf,
  problem,
  type Shape,
  text,
  unavailable,
  whole,
} from "#rules/parameters/shape.ts";
import { valueExpression } from "#rules/parameters/values.ts";

const SECONDS_MAX = 31_536_000;
const names = array(text({ bytesMax: 256 }));
const headerName = { pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/, what: "the name of a header field" };

/** Cookies have a separate setting, which names them one by one. */
const keyedHeader: Shape = (value, at, place) => {
  const problems = text(headerName)(value, at, place);
  if (problems.length > 0 || String(value).toLowerCase() !== "cookie") return problems;
  return [problem(at, "name each cookie in cookie.include")];
};
const headerNames = array(keyedHeader);

const allOrList = object({ all: oneOf(true), list: names }, { one: ["all", "list"] });
const oneQueryPart = object({ include: allOrList, exclude: allOrList }, { one: ["include", "exclude"] });
/** Clients write empty settings as an empty object. */
const queryString: Shape = (value, at, place) => (isObject(value) && Object.keys(value).length === 0 ? [] : oneQueryPart(value, at, place));

/** A flag with one value that would choose a missing feature. */
const never =
  (refused: boolean, why: string): Shape =>
  (value, at, place) =>
    value === refused ? [problem(at, why)] : flag(value, at, place);

const customKey = object(
  {
    query_string: queryString,
    header: object({
      include: headerNames,
      check_presence: headerNames,
      exclude_origin: flag,
      contains: map(headerName, names),
    }),
    cookie: object({ include: names, check_presence: names }),
    user: object({ device_type: flag, geo: flag, lang: flag }),
    host: object({ resolved: never(true, "the cache stores responses per host name; resolved can only be false") }),
  },
  { some: ["query_string", "header", "cookie", "user", "host"] },
);

const ttl = (modes: readonly string[], more: Readonly<Record<string, Shape>>): Shape => {
  const shape = object({ mode: oneOf(...modes), default: whole(0, SECONDS_MAX), ...more }, { required: ["mode"] });
  return (value, at, place) => {
    const problems = shape(value, at, place);
    const needsDefault = isObject(value) && value["mode"] === "override_origin" && value["default"] === undefined;
    return needsDefault ? [...problems, problem(at, "mode override_origin needs default")] : problems;
  };
};

const statusRange: Shape = (value, at, place) => {
  const problems = object({ from: whole(100, 999), to: whole(100, 999) }, { some: ["from", "to"] })(value, at, place);
  if (problems.length > 0) return problems;
  const { from = 100, to = 999 } = value as { readonly from?: number; readonly to?: number };
  return from > to ? [problem(at, "from must not be greater than to")] : [];
};

/** A status or a range of statuses; -1 does not store the response, and 0 revalidates it for each request. */
const statusTtl = object(
  {
    status_code: whole(100, 999),
    status_code_range: statusRange,
    value: whole(-1, SECONDS_MAX),
  },
  { required: ["value"], one: ["status_code", "status_code_range"] },
);

export const setCacheSettings = object(
  {
    cache: flag,
    edge_ttl: ttl(["respect_origin", "bypass_by_default", "override_origin"], { status_code_ttl: array(statusTtl) }),
    browser_ttl: ttl(["respect_origin", "bypass_by_default", "override_origin", "bypass"], {}),
    cache_key: object({
      custom_key: customKey,
      ignore_query_strings_order: flag,
      cache_by_device_type: flag,
      cache_deception_armor: flag,
    }),
    serve_stale: object({ disable_stale_while_updating: flag }),
    respect_strong_etags: flag,
    origin_error_page_passthru: flag,
    origin_cache_control: never(false, "the edge follows the origin's headers (RFC 9111); origin_cache_control can only be true"),
    read_timeout: whole(100, 6000),
    additional_cacheable_ports: array(whole(1, 65_535)),
    strip_etags: flag,
    strip_last_modified: flag,
    strip_set_cookie: flag,
    cache_reserve: unavailable,
    shared_dictionary: unavailable,
    vary: unavailable,
  },
  {
    some: [
      "cache",
      "edge_ttl",
      "browser_ttl",
      "cache_key",
      "serve_stale",
      "respect_strong_etags",
      "origin_error_page_passthru",
      "origin_cache_control",
      "read_timeout",
      "additional_cacheable_ports",
      "strip_etags",
      "strip_last_modified",
      "strip_set_cookie",
    ],
  },
);

const DIRECTIVES = [
  "immutable",
  "max-age",
  "must-revalidate",
  "must-understand",
  "no-cache",
  "no-store",
  "no-transform",
  "private",
  "proxy-revalidate",
  "public",
  "s-maxage",
  "stale-if-error",
  "stale-while-revalidate",
] as const;
const TIMED = new Set<string>(["max-age", "s-maxage", "stale-if-error", "stale-while-revalidate"]);
const QUALIFIED = new Set<string>(["no-cache", "private"]);

const directive = (name: string): Shape =>
  byPlace(() => (value, at, place) => {
    const sets = isObject(value) && value["operation"] === "set";
    const members = { operation: oneOf("set", "remove"), cloudflare_only: flag };
    const more = !sets ? {} : TIMED.has(name) ? { value: whole(0, SECONDS_MAX) } : QUALIFIED.has(name) ? { qualifiers: names } : {};
    return object({ ...members, ...more }, { required: sets && TIMED.has(name) ? ["operation", "value"] : ["operation"] })(
      value,
      at,
      place,
    );
  });

export const setCacheControl = object(Object.fromEntries(DIRECTIVES.map((name) => [name, directive(name)])), { some: DIRECTIVES });

export const setCacheTags = object(
  { operation: oneOf("add", "remove", "set"), values: array(text({ bytesMax: 1024 })), expression: valueExpression },
  { required: ["operation"], one: ["values", "expression"] },
);
