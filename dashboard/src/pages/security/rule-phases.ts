/** The phases whose rules have the same form: an expression, and an action without parameters. */
export const PHASES = [
  {
    id: "http_request_firewall_custom",
    title: "Custom rules",
    lead: "Your own rules run from top to bottom; the first one that blocks or challenges ends it.",
    hint: "Block a path, a country or a program, or look at requests without stopping them.",
    actions: ["block", "managed_challenge", "js_challenge", "challenge", "log", "skip"],
  },
  {
    id: "http_request_firewall_managed",
    title: "Exceptions of managed rules",
    lead: "Requests that managed rules leave alone. An exception stands above the rules that it skips.",
    hint: "An exception is best made at an event: it then knows host, path and method.",
    actions: ["skip"],
  },
] as const;

export type Phase = (typeof PHASES)[number];
