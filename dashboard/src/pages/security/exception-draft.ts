import type { SecurityEvent } from "#model/events/security-event.ts";
import type { ExceptionDraft } from "#model/rulesets/exception.ts";
import { quoted } from "./expression/expression-text.ts";

/** This host, this path and this method. */
const expressionFor = ({ host, path, method }: SecurityEvent): string =>
  `http.request.method eq ${quoted(method)} and http.host eq ${quoted(host)} and http.request.uri.path eq ${quoted(path)}`;

/** How each phase skips a rule, and where. For managed rules of requests, the API drafts the exception, because they find parts. */
const SKIPS: Readonly<
  Record<string, (event: SecurityEvent) => Pick<ExceptionDraft, "phase"> & { readonly skips: object; readonly before: string }>
> = {
  http_request_firewall_custom: ({ rule_id, deployed_by }) => ({
    phase: "http_request_firewall_custom",
    skips: { ruleset: "current" },
    before: deployed_by || rule_id,
  }),
  http_ratelimit: () => ({ phase: "http_request_firewall_custom", skips: { phases: ["http_ratelimit"] }, before: "" }),
  http_response_firewall_managed: ({ ruleset_id, rule_id, deployed_by }) => ({
    phase: "http_response_firewall_managed",
    skips: { rules: { [ruleset_id]: [rule_id] } },
    before: deployed_by,
  }),
};

/** Undefined where the API drafts it. */
export function draftOf(event: SecurityEvent): ExceptionDraft | undefined {
  const made = SKIPS[event.phase]?.(event);
  if (!made) return undefined;
  return {
    phase: made.phase,
    ruleset_id: null,
    rule: {
      action: "skip",
      action_parameters: made.skips as Record<string, unknown>,
      expression: expressionFor(event),
      description: `Exception of event ${event.id} (${event.rule_description || event.rule_id})`,
      enabled: true,
      position: { before: made.before },
    },
  };
}
