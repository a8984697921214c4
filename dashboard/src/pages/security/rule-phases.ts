import { PHASE_TITLES } from "./parts.ts";

/** A member of a rule's parameters, as a form asks for it. */
export interface ParameterField {
  /** From the top of `action_parameters`, or of `ratelimit`. */
  readonly path: readonly string[];
  readonly label: string;
  readonly kind: "text" | "number" | "list" | "choice" | "flag" | "long" | "headers";
  readonly options?: readonly (readonly [string, string])[];
  readonly hint?: string;
}

export interface RuleAction {
  readonly id: string;
  readonly title: string;
  readonly fields: readonly ParameterField[];
  /** Parameters of a new rule. */
  readonly start?: object;
}

export interface Phase {
  readonly id: string;
  readonly title: string;
  readonly lead: string;
  readonly hint: string;
  readonly actions: readonly [RuleAction, ...RuleAction[]];
  /** The expression of a new rule. */
  readonly example: string;
  /** Of a new rule, where rules count. */
  readonly ratelimit?: object;
  readonly counting?: readonly ParameterField[];
}

const BLOCK: RuleAction = {
  id: "block",
  title: "Block",
  fields: [
    { path: ["response", "content"], label: "Text of the answer", kind: "long", hint: "Empty for the usual page." },
    { path: ["response", "status_code"], label: "Status", kind: "number", hint: "400 to 499; 403 by default." },
  ],
};
const plain = (id: string, title: string): RuleAction => ({ id, title, fields: [] });
const MITIGATIONS: readonly [RuleAction, ...RuleAction[]] = [
  BLOCK,
  plain("managed_challenge", "Challenge"),
  plain("js_challenge", "Challenge by script"),
  plain("challenge", "Challenge with a click"),
  plain("log", "Log"),
];
const SKIP: RuleAction = { id: "skip", title: "Skip rules", fields: [], start: { ruleset: "current" } };
const REWRITTEN: readonly ParameterField[] = [
  { path: ["headers"], label: "Header fields", kind: "headers", hint: "A value is text; to compute it, use all parameters below." },
];
const PATH = 'http.request.uri.path eq ""';

const rowsOf = (phases: readonly Omit<Phase, "title">[]): readonly Phase[] =>
  phases.map((phase) => ({ ...phase, title: PHASE_TITLES[phase.id] ?? phase.id }));

/** Phases of a zone whose rules are written by people, in the order in which they run. */
export const PHASES: readonly Phase[] = rowsOf([
  {
    id: "http_request_dynamic_redirect",
    lead: "Redirects. The first rule that matches answers the request.",
    hint: "Lead an old path to its new place.",
    example: PATH,
    actions: [
      {
        id: "redirect",
        title: "Redirect",
        fields: [
          { path: ["from_value", "target_url", "value"], label: "To", kind: "text", hint: "https://www.shop.example/new" },
          {
            path: ["from_value", "status_code"],
            label: "Status",
            kind: "choice",
            options: [
              ["301", "301, for good"],
              ["302", "302, for now"],
              ["307", "307, for now, same method"],
              ["308", "308, for good, same method"],
            ],
          },
          { path: ["from_value", "preserve_query_string"], label: "Keep the query", kind: "flag" },
        ],
        start: { from_value: { target_url: { value: "" }, status_code: 302, preserve_query_string: true } },
      },
    ],
  },
  {
    id: "http_request_transform",
    lead: "Changes of the path and the query, for the later phases and the origin.",
    hint: "Show one path to visitors and ask the origin for another.",
    example: PATH,
    actions: [
      {
        id: "rewrite",
        title: "Change the address",
        fields: [
          { path: ["uri", "path", "value"], label: "Path", kind: "text", hint: "It begins with /." },
          { path: ["uri", "query", "value"], label: "Query", kind: "text", hint: "Without the question mark." },
        ],
        start: { uri: { path: { value: "/" } } },
      },
    ],
  },
  {
    id: "http_config_settings",
    lead: "Settings that differ from the zone's for some requests.",
    hint: "Use another encryption to the origin for one host.",
    example: 'http.host eq ""',
    actions: [
      {
        id: "set_config",
        title: "Set",
        fields: [
          {
            path: ["ssl"],
            label: "Encryption to the origin",
            kind: "choice",
            options: [
              ["", "as the zone"],
              ["off", "none"],
              ["flexible", "none to the origin"],
              ["full", "encrypted, certificate not checked"],
              ["strict", "encrypted and checked"],
            ],
          },
          {
            path: ["cache_level"],
            label: "Cache level",
            kind: "choice",
            options: [
              ["", "as the zone"],
              ["basic", "basic"],
              ["simplified", "simplified"],
              ["aggressive", "aggressive"],
            ],
          },
          { path: ["browser_cache_ttl"], label: "Seconds in browsers", kind: "number" },
        ],
        start: { ssl: "full" },
      },
    ],
  },
  {
    id: "http_request_origin",
    lead: "The origin that the edge sends requests to.",
    hint: "Send one path to another machine or port.",
    example: PATH,
    actions: [
      {
        id: "route",
        title: "Route",
        fields: [
          { path: ["origin", "host"], label: "Origin", kind: "text", hint: "A host name; empty for the record's own." },
          { path: ["origin", "port"], label: "Port", kind: "number" },
          { path: ["host_header"], label: "Host field", kind: "text", hint: "Empty for the visitor's." },
          { path: ["sni", "value"], label: "Name for TLS", kind: "text", hint: "Empty for the Host field's." },
        ],
        start: { origin: { port: 8080 } },
      },
    ],
  },
  {
    id: "http_request_firewall_custom",
    lead: "Your own rules run from top to bottom; the first one that blocks or challenges ends it.",
    hint: "Block a path, a country or a program, or look at requests without stopping them.",
    example: 'http.request.uri.path contains "/admin"',
    actions: [...MITIGATIONS, SKIP],
  },
  {
    id: "http_ratelimit",
    lead: "The edge counts the requests of each visitor and stops visitors that send too many, for a while.",
    hint: "Limit how often one address may try to sign in.",
    example: 'http.request.uri.path eq "/login"',
    actions: MITIGATIONS,
    ratelimit: { characteristics: ["ip.src"], period: 60, requests_per_period: 20, mitigation_timeout: 60 },
    counting: [
      { path: ["requests_per_period"], label: "Requests", kind: "number" },
      {
        path: ["period"],
        label: "Within",
        kind: "choice",
        options: [
          ["10", "10 seconds"],
          ["60", "a minute"],
          ["120", "2 minutes"],
          ["300", "5 minutes"],
          ["600", "10 minutes"],
          ["3600", "an hour"],
        ],
      },
      {
        path: ["mitigation_timeout"],
        label: "Then for",
        kind: "choice",
        options: [
          ["0", "as long as there are too many"],
          ["10", "10 seconds"],
          ["60", "a minute"],
          ["600", "10 minutes"],
          ["3600", "an hour"],
          ["86400", "a day"],
        ],
      },
      { path: ["characteristics"], label: "Counted by", kind: "list", hint: "Fields, such as ip.src." },
    ],
  },
  {
    id: "http_request_firewall_managed",
    lead: "Requests that managed rules do not look at. An exception is above the rules that it skips.",
    hint: "An exception is best made at an event: it then knows host, path and method, and the part that matched.",
    example: PATH,
    actions: [SKIP],
  },
  {
    id: "http_request_late_transform",
    lead: "Changes of header fields of requests to the origin.",
    hint: "Add a field that the origin expects.",
    example: "true",
    actions: [{ id: "rewrite", title: "Change headers", fields: REWRITTEN, start: { headers: {} } }],
  },
  {
    id: "http_request_cache_settings",
    lead: "Which responses the cache stores, and for how long. Later rules add to earlier ones.",
    hint: "Keep the files of one folder for a day.",
    example: 'starts_with(http.request.uri.path, "/assets/")',
    actions: [
      {
        id: "set_cache_settings",
        title: "Set",
        fields: [
          { path: ["cache"], label: "May be kept", kind: "flag" },
          {
            path: ["edge_ttl", "mode"],
            label: "At the edge",
            kind: "choice",
            options: [
              ["", "as it is"],
              ["respect_origin", "as the origin says"],
              ["bypass_by_default", "only if the origin says so"],
              ["override_origin", "for this many seconds"],
            ],
          },
          { path: ["edge_ttl", "default"], label: "Seconds at the edge", kind: "number" },
          {
            path: ["browser_ttl", "mode"],
            label: "In browsers",
            kind: "choice",
            options: [
              ["", "as it is"],
              ["respect_origin", "as the origin says"],
              ["bypass", "not at all"],
              ["override_origin", "for this many seconds"],
            ],
          },
          { path: ["browser_ttl", "default"], label: "Seconds in browsers", kind: "number" },
        ],
        start: { cache: true },
      },
    ],
  },
  {
    id: "http_custom_errors",
    lead: "Pages that visitors see instead of errors.",
    hint: "Say that the shop is closed for an hour.",
    example: "http.response.code ge 500",
    actions: [
      {
        id: "serve_error",
        title: "Answer",
        fields: [
          { path: ["content"], label: "Text", kind: "long" },
          {
            path: ["content_type"],
            label: "Kind",
            kind: "choice",
            options: [
              ["text/html", "HTML"],
              ["text/plain", "plain text"],
              ["application/json", "JSON"],
              ["text/xml", "XML"],
            ],
          },
          { path: ["status_code"], label: "Status", kind: "number" },
        ],
        start: { content: "<h1>We are back soon</h1>", content_type: "text/html" },
      },
    ],
  },
  {
    id: "http_response_headers_transform",
    lead: "Changes of header fields of responses to visitors.",
    hint: "Add a security header, or take one away.",
    example: "true",
    actions: [{ id: "rewrite", title: "Change headers", fields: REWRITTEN, start: { headers: {} } }],
  },
  {
    id: "http_response_compression",
    lead: "How the edge compresses responses, instead of its own choice.",
    hint: "Leave one kind of file as it is.",
    example: 'http.request.uri.path.extension eq "zip"',
    actions: [{ id: "compress_response", title: "Compress", fields: [], start: { algorithms: [{ name: "none" }] } }],
  },
  {
    id: "http_log_custom_fields",
    lead: "Additional fields in request logs.",
    hint: "Keep a header field of each request.",
    example: "true",
    actions: [{ id: "log_custom_field", title: "Log fields", fields: [], start: { request_fields: [{ name: "accept-language" }] } }],
  },
]);

export const CUSTOM_PHASE = "http_request_firewall_custom";
