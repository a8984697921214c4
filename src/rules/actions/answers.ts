import { array, byPlace, object, oneOf, problem, type Shape, text, whole } from "#rules/parameters/shape.ts";
import { source, valueExpression } from "#rules/parameters/values.ts";

// linear: pumped
export const HOST = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

const CONTENT_TYPES = ["application/json", "text/html", "text/plain", "text/xml"] as const;
// waf.md: a custom response has a status of 400–499 and up to 30 KB.
const BLOCK_CONTENT_BYTES_MAX = 30 * 1024;
const ERROR_CONTENT_BYTES_MAX = 10 * 1024;

/** A custom response instead of the edge's page. */
export const block = object({
  response: object({
    status_code: whole(400, 499),
    content: text({ bytesMax: BLOCK_CONTENT_BYTES_MAX, empty: true }),
    content_type: oneOf(...CONTENT_TYPES),
  }),
});

/** A rule with an asset leaves the response unchanged, because assets do not exist here (inert.ts). */
export const serveError = object(
  {
    content: text({ bytesMax: ERROR_CONTENT_BYTES_MAX }),
    content_type: oneOf(...CONTENT_TYPES),
    status_code: whole(400, 999),
    asset_name: text({ bytesMax: 200 }),
  },
  { one: ["content", "asset_name"] },
);

const fromValue = object(
  {
    target_url: source({
      pattern: /^(?:https?:\/\/\S+|\/\S*)$/i,
      what: "a URL that starts with http://, https:// or /",
      bytesMax: 8192,
    }),
    status_code: oneOf(301, 302, 303, 307, 308),
    preserve_query_string: oneOf(true, false),
  },
  { required: ["target_url"] },
);

const LIST_NAME = text({ pattern: /^[a-z0-9_]{1,50}$/, what: "the name of a list" });

/** The list must exist in the account and hold redirects: a rule that can never redirect is a mistake. */
const redirectList: Shape = (value, at, place) => {
  const problems = LIST_NAME(value, at, place);
  if (problems.length > 0) return problems;
  const kind = place.around.lists.find(String(value))?.kind;
  if (kind === undefined) return [problem(at, `the list "${String(value)}" does not exist`)];
  return kind === "redirect"
    ? []
    : [problem(at, `the list "${String(value)}" is of kind ${kind}, but this action needs a list of kind redirect`)];
};

const fromList = object({ name: redirectList, key: valueExpression }, { required: ["name", "key"] });

/** Only the account's own phase may use lists of redirects; in all other phases the rule names the target. */
export const redirect: Shape = byPlace(({ phase }) =>
  phase === "http_request_redirect"
    ? object({ from_value: fromValue, from_list: fromList }, { one: ["from_value", "from_list"] })
    : object({ from_value: fromValue }, { required: ["from_value"] }),
);

/** Tried in this order; codings that the visitor does not accept are skipped. */
export const compressResponse = object(
  { algorithms: array(object({ name: oneOf("none", "auto", "default", "gzip", "brotli", "zstd") }, { required: ["name"] }), { max: 6 }) },
  { required: ["algorithms"] },
);

const named = array(object({ name: text({ bytesMax: 256 }) }, { required: ["name"] }));
const namedOnce = array(object({ name: text({ bytesMax: 256 }), preserve_duplicates: oneOf(true, false) }, { required: ["name"] }));

export const logCustomField = object(
  {
    cookie_fields: named,
    request_fields: named,
    transformed_request_fields: named,
    response_fields: namedOnce,
    raw_response_fields: namedOnce,
  },
  { some: ["cookie_fields", "request_fields", "transformed_request_fields", "response_fields", "raw_response_fields"] },
);
