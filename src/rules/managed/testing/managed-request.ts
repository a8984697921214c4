import { compileRuleset } from "#rules/compile/compile-ruleset.ts";
import { runPhase } from "#rules/engine/engine.ts";
import { createRun } from "#rules/engine/run.ts";
import { testRequest } from "#rules/testing/views.ts";
import type { Match } from "#rules/engine/compiled-rule.ts";
import type { RequestView } from "#rules/views.ts";

export interface RequestChanges {
  readonly path?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, readonly string[]>>;
  readonly body?: string;
  readonly truncated?: boolean;
}

const PHASE = "http_request_firewall_managed";

/** A request as the edge presents it: names of header fields as sent, and looked up in lower case. */
export function managedRequest({ path = "/a/b.html", query = "", headers = {}, body, truncated = false }: RequestChanges): RequestView {
  const lower = new Map(Object.entries(headers).map(([name, values]) => [name.toLowerCase(), values]));
  const request = testRequest({
    method: body === undefined ? "GET" : "POST",
    path,
    query,
    headers,
    ...(body === undefined ? {} : { body: { raw: body, size: body.length, truncated } }),
  });
  return { ...request, headers: (name) => lower.get(name) ?? [] };
}

/** The rules of a managed ruleset that match a request, with its default deployment. */
export function managedMatches(rulesetId: string, request: RequestChanges, overrides: object = {}): readonly Match[] {
  const rule = {
    id: "deploys",
    action: "execute",
    action_parameters: { id: rulesetId, overrides },
    expression: "true",
    description: "",
    enabled: true,
  };
  const run = createRun();
  const entry = compileRuleset({ id: "entry", phase: PHASE, rules: [rule] });
  // Without it, no request would be blocked, and every test of honest ones would pass.
  if (entry.problems.length > 0) throw new Error(entry.problems.map(({ message }) => message).join(", "));
  const matches = runPhase([entry], run, managedRequest(request), null);
  if (run.exhausted !== null) throw new Error("the request's steps are spent");
  return matches;
}
