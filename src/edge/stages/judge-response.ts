import { runPhase } from "#rules/engine/engine.ts";
import type { CompiledRuleset } from "#rules/engine/compiled-rule.ts";
import type { ResponseView } from "#rules/views.ts";
import { EDGE_ERRORS } from "#edge/pages/edge-errors.ts";
import { blockPage, type Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";

const PHASE = "http_response_firewall_managed";

/**
 * Runs the rules that decide by a response, before it is sent. Returns the page to send instead; null if no rule
 * blocks.
 */
export function judgeResponse(rulesets: readonly CompiledRuleset[], exchange: Exchange, response: ResponseView): Page | null {
  exchange.judged = runPhase(rulesets, exchange, exchange, response);
  for (const match of exchange.judged) {
    // Other matches execute a ruleset of the detector, which runs when the body is sent.
    if (match.deployed_by === "") continue;
    if (match.logs) exchange.logged.push({ phase: PHASE, match });
    if (match.action === "block") return blockPage(EDGE_ERRORS.blocked, match.action_parameters, exchange.accept, exchange.ray_id);
  }
  return null;
}
