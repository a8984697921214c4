import assert from "node:assert/strict";
import { test } from "node:test";
import { ACTIONS } from "./actions.ts";
import type { ActionName, PhaseName } from "#rules/phases.ts";
import type { RuleContext } from "#rules/parameters/rule-context.ts";

const ZONE: RuleContext = { kind: "zone", customRulesets: new Map(), lists: { find: () => undefined } };
const SCORES = "4814384a9e5d4991b9815dcfc25d2f1f";
const SUM = "6179ae15870a4bb7b2d480d4843b323c";
const PHASE: Readonly<Partial<Record<ActionName, PhaseName>>> = {
  redirect: "http_request_dynamic_redirect",
  rewrite: "http_request_late_transform",
};

const problemsOf = (action: ActionName, parameters: object, phase: PhaseName = PHASE[action] ?? "http_request_firewall_custom") =>
  ACTIONS[action].parameters(parameters, "", { phase, around: ZONE });

const to = (target_url: object, more: object = {}): object => ({ from_value: { target_url, ...more } });
const header = (change: object, name = "X-Test"): object => ({ headers: { [name]: change } });

const ACCEPTED: readonly (readonly [ActionName, object, PhaseName?])[] = [
  ["block", { response: { status_code: 429, content: "{}", content_type: "application/json" } }],
  ["serve_error", { content: "<h1>Sorry</h1>", content_type: "text/html", status_code: 530 }],
  ["redirect", to({ value: "https://example.com/new" }, { status_code: 308, preserve_query_string: true })],
  ["redirect", to({ value: "/new" })],
  ["rewrite", { uri: { path: { value: "/new" }, query: { value: "" } } }, "http_request_transform"],
  ["rewrite", header({ operation: "set", value: "a" })],
  ["rewrite", header({ operation: "add", value: "é" }), "http_response_headers_transform"],
  ["rewrite", header({ operation: "remove" })],
  ["route", { origin: { host: "a.example", port: 8443 }, host_header: "b.example", sni: { value: "c.example" } }],
  ["set_config", { ssl: "strict", browser_cache_ttl: 60 }],
  ["set_config", { rocket_loader: false, polish: "off", autominify: { css: false }, disable_zaraz: true }],
  ["score", { increment: 5 }],
  ["compress_response", { algorithms: [{ name: "zstd" }, { name: "brotli" }, { name: "auto" }] }],
  ["log_custom_field", { request_fields: [{ name: "x-id" }], response_fields: [{ name: "via", preserve_duplicates: true }] }],
  ["skip", { ruleset: "current" }],
  ["skip", { phases: ["http_ratelimit", "http_response_firewall_managed"], products: ["waf", "bic"] }],
  ["skip", { rulesets: ["a"], rules: { b: ["c", "d"] } }],
  ["skip", { rules: { [SCORES]: [SUM] }, matched: [{ part: "&ARGS" }, { part: "http.request.headers", name: "x", rules: [SUM] }] }],
  ["set_cache_settings", { cache: false }],
  [
    "set_cache_settings",
    {
      cache: true,
      edge_ttl: {
        mode: "override_origin",
        default: 60,
        status_code_ttl: [
          { status_code: 404, value: 0 },
          { status_code_range: { from: 500 }, value: -1 },
        ],
      },
      browser_ttl: { mode: "bypass" },
      cache_key: {
        ignore_query_strings_order: true,
        custom_key: { query_string: { exclude: { list: ["utm"] } }, header: { include: ["x-a"] }, cookie: { check_presence: ["s"] } },
      },
      serve_stale: { disable_stale_while_updating: true },
      respect_strong_etags: true,
      origin_error_page_passthru: false,
    },
  ],
  ["set_cache_settings", { serve_stale: {}, cache_key: { custom_key: { query_string: {} } } }],
  ["serve_error", { asset_name: "500_page", content_type: "text/html" }],
  ["set_cache_control", { "max-age": { operation: "set", value: 60 }, "no-store": { operation: "remove" }, private: { operation: "set" } }],
  ["set_cache_tags", { operation: "add", values: ["a", "b"] }],
];

test("valid parameters of an action are accepted", () => {
  for (const [action, parameters, phase] of ACCEPTED)
    assert.deepEqual(problemsOf(action, parameters, phase), [], `${action} ${JSON.stringify(parameters)}`);
});

const REFUSED: readonly (readonly [ActionName, object, string, RegExp, PhaseName?])[] = [
  ["challenge", { x: 1 }, "/x", /unknown parameter "x"; this action has no parameters/],
  ["serve_error", { content: "" }, "/content", /must not be empty/],
  ["serve_error", { content: "x".repeat(10_241) }, "/content", /longer than 10240 bytes/],
  ["serve_error", { content: "x", asset_name: "a" }, "", /only one of content or asset_name/],
  ["serve_error", {}, "", /needs content or asset_name/],
  ["redirect", { from_list: { name: "a", key: "http.request.full_uri" } }, "/from_list", /unknown parameter/],
  ["redirect", {}, "", /needs from_value or from_list/, "http_request_redirect"],
  ["redirect", to({}), "/from_value/target_url", /needs value or expression/],
  ["redirect", to({ value: "a", expression: "b" }), "/from_value/target_url", /only one of value or expression/],
  ["redirect", to({ value: "javascript:alert(1)" }), "/from_value/target_url/value", /starts with http/],
  ["redirect", to({ value: "/\r\nX: y" }), "/from_value/target_url/value", /starts with http/],
  ["redirect", to({ value: "/a" }, { status_code: 300 }), "/from_value/status_code", /one of 301, 302, 303, 307, 308/],
  ["redirect", to({ expression: "http.host eq" }), "/from_value/target_url/expression", /./],
  ["rewrite", { headers: {} }, "", /needs uri/, "http_request_transform"],
  ["rewrite", { uri: {} }, "/uri", /needs path or query/, "http_request_transform"],
  ["rewrite", { uri: { path: { value: "no-slash" } } }, "/uri/path/value", /starts with \//, "http_request_transform"],
  ["rewrite", { uri: { path: { value: "/a b" } } }, "/uri/path/value", /visible/, "http_request_transform"],
  ["rewrite", { uri: {} }, "", /needs headers/],
  ["rewrite", { headers: {} }, "/headers", /from 1 to 100/],
  ["rewrite", header({ operation: "set" }), "/headers/X-Test", /needs value or expression/],
  ["rewrite", header({ value: "x" }), "/headers/X-Test", /needs operation/],
  ["rewrite", header({ operation: "put", value: "x" }), "/headers/X-Test/operation", /one of set, add, remove/],
  ["rewrite", header({ operation: "remove", value: "x" }), "/headers/X-Test/value", /unknown parameter/],
  ["rewrite", header({ operation: "set", value: "a\r\nb" }), "/headers/X-Test/value", /may have/],
  ["rewrite", header({ operation: "set", value: "a" }, "X Test"), "/headers/X Test", /name of a header/],
  ["rewrite", header({ operation: "set", value: "a" }, "Content-Length"), "/headers/Content-Length", /the edge controls the header/],
  ["rewrite", header({ operation: "set", value: "a" }, "cf-connecting-ip"), "/headers/cf-connecting-ip", /the edge controls the header/],
  ["set_config", {}, "", /needs ssl/],
  ["set_config", { ssl: "on" }, "/ssl", /one of off, flexible, full, strict/],
  ["set_config", { rocket_loader: true }, "/rocket_loader", /can only be false: bodies are not rewritten/],
  ["set_config", { autominify: { css: true } }, "/autominify", /setting of the whole zone/],
  ["set_config", { security_level: "high" }, "/security_level", /use rules with managed_challenge/],
  ["score", { increment: 1.5 }, "/increment", /whole number/],
  ["compress_response", { algorithms: [] }, "/algorithms", /must have at least one entry/],
  ["compress_response", { algorithms: [{ name: "deflate" }] }, "/algorithms/0/name", /one of/],
  ["log_custom_field", {}, "", /needs cookie_fields/],
  ["skip", {}, "", /needs ruleset/],
  ["skip", { matched: { part: "ARGS", name: "a" } }, "", /or rules/],
  ["skip", { phases: ["http_ratelimit"], matched: { part: "ARGS" } }, "/phases", /cannot be combined/],
  ["skip", { rules: { [SCORES]: [SUM] }, matched: { part: "arguments" } }, "/matched/part", /http\.request\.uri\.args or ARGS/],
  ["skip", { rules: { [SCORES]: [SUM] }, matched: { name: "a" } }, "/matched", /needs part/],
  ["skip", { rules: { other: ["a"] }, matched: { part: "ARGS" } }, "/rules/other", /managed rulesets for requests/],
  ["skip", { products: ["bot"] }, "/products/0", /one of/],
  ["skip", { rules: { a: [] } }, "/rules/a", /must have at least one entry/],
  ["skip", { phases: "http_ratelimit" }, "/phases", /array/],
  ["set_cache_settings", {}, "", /needs cache/],
  ["set_cache_settings", { edge_ttl: { mode: "override_origin" } }, "/edge_ttl", /needs default/],
  ["set_cache_settings", { edge_ttl: { mode: "bypass" } }, "/edge_ttl/mode", /one of/],
  [
    "set_cache_settings",
    { edge_ttl: { mode: "respect_origin", status_code_ttl: [{ value: 1 }] } },
    "/edge_ttl/status_code_ttl/0",
    /needs status_code/,
  ],
  ["set_cache_settings", { origin_cache_control: false }, "/origin_cache_control", /can only be true/],
  [
    "set_cache_settings",
    { cache_key: { custom_key: { host: { resolved: true } } } },
    "/cache_key/custom_key/host/resolved",
    /per host name/,
  ],
  [
    "set_cache_settings",
    { cache_key: { custom_key: { header: { include: ["Cookie"] } } } },
    "/cache_key/custom_key/header/include/0",
    /in cookie.include/,
  ],
  [
    "set_cache_settings",
    { edge_ttl: { mode: "respect_origin", status_code_ttl: [{ status_code_range: { from: 500, to: 400 }, value: 1 }] } },
    "/edge_ttl/status_code_ttl/0/status_code_range",
    /greater/,
  ],
  ["set_cache_settings", { cache_reserve: { eligible: true } }, "/cache_reserve", /cannot run/],
  ["set_cache_control", {}, "", /needs immutable/],
  ["set_cache_control", { "max-age": { operation: "set" } }, "/max-age", /needs value/],
  ["set_cache_control", { "no-store": { operation: "set", value: 1 } }, "/no-store/value", /unknown parameter/],
  ["set_cache_tags", { operation: "add" }, "", /needs values or expression/],
];

test("unknown or invalid parameters of an action are refused with a pointer", () => {
  for (const [action, parameters, pointer, message, phase] of REFUSED) {
    const problems = problemsOf(action, parameters, phase);
    assert.ok(
      problems.some((problem) => problem.pointer === pointer && message.test(problem.message)),
      `${action} ${JSON.stringify(parameters)}: ${JSON.stringify(problems)}`,
    );
  }
});
