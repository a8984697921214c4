export type RulesetLevel = "account" | "zone";

/**
 * The traffic of a phase: requests and responses of the edge, or packets. No plane processes packets, so packet phases
 * have names but no rules.
 */
export type PhaseSide = "request" | "response" | "packet";

export interface Phase {
  readonly name: string;
  readonly side: PhaseSide;
  /** Levels that may have an entry point; account rules run before zone rules (waf.md). */
  readonly levels: readonly RulesetLevel[];
  /** Actions that a rule of an entry point may have. */
  readonly actions: readonly ActionName[];
  /** Whether a plane runs it; otherwise its rules are refused when saved, instead of being ignored. */
  readonly runs: boolean;
  /** Replacement of a phase that does not run. */
  readonly instead?: string;
}

const BOTH = ["account", "zone"] as const;
const ZONE = ["zone"] as const;
const ACCOUNT = ["account"] as const;
const MITIGATIONS = ["block", "js_challenge", "managed_challenge", "challenge", "log"] as const;

const PACKETS = "this server does not filter packets; use rules of http_ratelimit, which count requests";
const SANITIZE = "the edge already refuses every request that two programs could interpret differently, in every zone";
const FLOODS = "use rules of http_ratelimit; the operator's configuration limits connections and headers";
const BOTS = "use rules of http_request_firewall_custom with managed_challenge";
const CACHE = "use edge_ttl, browser_ttl and strip_set_cookie of http_request_cache_settings, and the origin's own Cache-Tag";

/** Every phase in the order in which it runs (waf.md, contract.md §7). `http_ratelimit` counts responses too. */
export const PHASES = [
  { name: "magic_transit", side: "packet", levels: ACCOUNT, actions: [], runs: false, instead: PACKETS },
  { name: "magic_transit_managed", side: "packet", levels: ACCOUNT, actions: [], runs: false, instead: PACKETS },
  { name: "magic_transit_ids_managed", side: "packet", levels: ACCOUNT, actions: [], runs: false, instead: PACKETS },
  { name: "magic_transit_ratelimit", side: "packet", levels: ACCOUNT, actions: [], runs: false, instead: PACKETS },
  { name: "ddos_l4", side: "packet", levels: ACCOUNT, actions: [], runs: false, instead: PACKETS },

  { name: "http_request_sanitize", side: "request", levels: ZONE, actions: ["execute"], runs: false, instead: SANITIZE },
  { name: "http_request_dynamic_redirect", side: "request", levels: ZONE, actions: ["redirect"], runs: true },
  { name: "http_request_transform", side: "request", levels: ZONE, actions: ["rewrite"], runs: true },
  { name: "http_config_settings", side: "request", levels: ZONE, actions: ["set_config"], runs: true },
  { name: "http_request_origin", side: "request", levels: ZONE, actions: ["route"], runs: true },
  { name: "ddos_l7", side: "request", levels: BOTH, actions: ["execute"], runs: false, instead: FLOODS },
  { name: "http_request_firewall_custom", side: "request", levels: BOTH, actions: [...MITIGATIONS, "skip", "execute"], runs: true },
  { name: "http_ratelimit", side: "request", levels: BOTH, actions: [...MITIGATIONS, "execute"], runs: true },
  { name: "http_request_firewall_managed", side: "request", levels: BOTH, actions: ["execute", "skip"], runs: true },
  { name: "http_request_sbfm", side: "request", levels: ZONE, actions: [...MITIGATIONS, "skip"], runs: false, instead: BOTS },
  { name: "http_request_redirect", side: "request", levels: ACCOUNT, actions: ["redirect"], runs: true },
  { name: "http_request_late_transform", side: "request", levels: BOTH, actions: ["rewrite"], runs: true },
  { name: "http_request_cache_settings", side: "request", levels: ZONE, actions: ["set_cache_settings"], runs: true },

  {
    name: "http_response_cache_settings",
    side: "response",
    levels: ZONE,
    actions: ["set_cache_control", "set_cache_tags"],
    runs: false,
    instead: CACHE,
  },
  { name: "http_custom_errors", side: "response", levels: BOTH, actions: ["serve_error"], runs: true },
  { name: "http_response_headers_transform", side: "response", levels: BOTH, actions: ["rewrite"], runs: true },
  { name: "http_response_compression", side: "response", levels: ZONE, actions: ["compress_response"], runs: true },
  { name: "http_response_firewall_managed", side: "response", levels: BOTH, actions: ["execute", "skip"], runs: true },
  { name: "http_log_custom_fields", side: "response", levels: ZONE, actions: ["log_custom_field"], runs: true },
] as const satisfies readonly Phase[];

export type PhaseName = (typeof PHASES)[number]["name"];

const BY_NAME: ReadonlyMap<string, Phase> = new Map(PHASES.map((phase) => [phase.name, phase]));

/** A phase's index, by which a plane finds its rules without hashing a name for each request. */
export type PhaseNumber = number & { readonly phase: unique symbol };

export const phaseNumber = (name: PhaseName): PhaseNumber => PHASES.findIndex((phase) => phase.name === name) as PhaseNumber;

export const phaseNamed = (name: string): Phase | undefined => BY_NAME.get(name);

export type ActionName =
  | "block"
  | "challenge"
  | "compress_response"
  | "execute"
  | "js_challenge"
  | "log"
  | "log_custom_field"
  | "managed_challenge"
  | "redirect"
  | "rewrite"
  | "route"
  | "score"
  | "serve_error"
  | "set_cache_control"
  | "set_cache_settings"
  | "set_cache_tags"
  | "set_config"
  | "skip";
