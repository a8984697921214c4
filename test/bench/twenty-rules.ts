import type { RuleEntry } from "#snapshot/entries.ts";

type RuleOfSite = Pick<RuleEntry, "action" | "expression"> & Partial<Pick<RuleEntry, "action_parameters" | "ratelimit">>;

/** A site's usual rules, twenty in five phases. A request for `/page` sets two headers in each direction and stays within a limit. */
export const TWENTY_RULES: Readonly<Record<string, readonly RuleOfSite[]>> = {
  http_request_dynamic_redirect: ["/old", "/blog", "/shop", "/promo"].map((path) => ({
    action: "redirect",
    expression: `http.request.uri.path eq "${path}" and http.request.method in {"GET" "HEAD"}`,
    action_parameters: { from_value: { target_url: { value: `https://new.example${path}` }, status_code: 301 } },
  })),
  http_request_firewall_custom: [
    'http.request.uri.path contains "/wp-admin" and not ip.src in {192.0.2.0/24 2001:db8::/32}',
    'http.user_agent contains "sqlmap"',
    'http.request.method in {"TRACK" "DEBUG"}',
    'http.request.uri.query contains "../"',
    'http.request.uri.path matches "\\\\.(?:env|git|svn)(?:/|$)"',
    'http.host ne "www.requests.example" and http.request.uri.path eq "/internal"',
    'starts_with(http.request.uri.path, "/private/") and not any(http.request.headers["x-token"][*] eq "letmein")',
    "ip.src in {198.51.100.0/24 203.0.113.0/24}",
  ].map((expression) => ({ action: "block", expression })),
  http_ratelimit: [
    ["/login", 10],
    ["/page", 1_000_000],
  ].map(([path, requests_per_period]) => ({
    action: "block",
    expression: `http.request.uri.path eq "${path}"`,
    ratelimit: { characteristics: ["cf.colo.id", "ip.src"], period: 10, requests_per_period },
  })),
  http_request_late_transform: [
    { action: "rewrite", expression: "true", action_parameters: { headers: { "X-Site": { operation: "set", value: "bench" } } } },
    {
      action: "rewrite",
      expression: 'http.request.uri.path eq "/page"',
      action_parameters: { headers: { "X-Path": { operation: "set", expression: "http.request.uri.path" } } },
    },
    {
      action: "rewrite",
      expression: 'http.request.uri.path eq "/other"',
      action_parameters: { headers: { "X-Other": { operation: "remove" } } },
    },
  ],
  http_response_headers_transform: [
    { action: "rewrite", expression: "true", action_parameters: { headers: { "X-Frame-Options": { operation: "set", value: "DENY" } } } },
    { action: "rewrite", expression: "http.response.code eq 200", action_parameters: { headers: { Server: { operation: "remove" } } } },
    {
      action: "rewrite",
      expression: "http.response.code ge 500",
      action_parameters: { headers: { "X-Retry": { operation: "set", value: "1" } } },
    },
  ],
};
