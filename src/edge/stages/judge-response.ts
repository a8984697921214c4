import { runPhase } from "#rules/engine/engine.ts";
import type { CompiledRuleset } from "#rules/engine/compiled-rule.ts";
import type { ResponseView } from "#rules/views.ts";
import { EDGE_ERRORS } from "#edge/pages/edge-errors.ts";
import { blockPage, type Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";

const PHASE = "http_response_firewall_managed";

/** Asks the rules of the phase that decide by the head of a response, before it is sent. The page to send instead; null where none blocks. */
export function judgeResponse(rulesets: readonly CompiledRuleset[], exchange: Exchange, response: ResponseView): Page | null {
  for (const match of runPhase(rulesets, exchange, exchange, response)) {
    // The others execute a ruleset of the detector, which is asked when the body goes out.
    if (match.deployed_by === "") continue;
    if (match.logs) exchange.logged.push({ phase: PHASE, match });
    if (match.action === "block") return blockPage(EDGE_ERRORS.blocked, match.action_parameters, exchange.accept, exchange.ray_id);
  }
  return null;
}
