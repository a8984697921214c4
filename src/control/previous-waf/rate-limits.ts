import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { RATE_LIMITS_MAX, type RateLimit, type RateLimitWrite } from "#model/rulesets/rate-limit.ts";
import { compileExpression, ExpressionError } from "#rules/expression/expression.ts";
import { urlPatternProblem } from "#rules/previous-waf/url-pattern.ts";
import { limitExpressions } from "./compile-rate-limits.ts";
import { changeFirewall, type FirewallDeps, type FirewallEdit, type FirewallOwner } from "./firewall-edit.ts";
import { firewallPage } from "./firewall-page.ts";
import { normalRateLimit } from "./normal-patterns.ts";
import { loadFirewall } from "./state.ts";

/** Rate limits of the previous firewall. Throws `firewall_object_not_found`, `firewall_invalid`. */
export interface RateLimits {
  list(zone: FirewallOwner, page: PageRequest): Promise<Page<RateLimit>>;
  get(zone: FirewallOwner, id: string): Promise<RateLimit>;
  create(call: Call, zone: FirewallOwner, write: RateLimitWrite): Promise<RateLimit>;
  update(call: Call, zone: FirewallOwner, id: string, write: RateLimitWrite): Promise<RateLimit>;
  delete(call: Call, zone: FirewallOwner, id: string): Promise<RateLimit>;
}

export function createRateLimits(deps: FirewallDeps): RateLimits {
  const { store } = deps;
  const put = (call: Call, zone: FirewallOwner, id: string | null, write: RateLimitWrite): Promise<RateLimit> =>
    changeFirewall(deps, call, zone, async (edit) => {
      const { rate_limits } = await edit.firewall();
      if (id !== null) limitNamed(rate_limits, id);
      else if (rate_limits.length >= RATE_LIMITS_MAX) throw invalid(`a zone has at most ${RATE_LIMITS_MAX} rate limits`, "");
      checkLimit(write, edit.zone);
      const { disabled = false, description, match, threshold, period, action, bypass } = write;
      const value = {
        disabled,
        ...(description === undefined ? {} : { description }),
        match,
        ...(bypass === undefined ? {} : { bypass }),
        threshold,
        period,
        action,
      };
      const limit = { id: id ?? newId(), ...value };
      await edit.put("rate_limit", limit.id, value, id === null ? "create" : "update");
      return limit;
    });

  return {
    list: async (zone, page) => firewallPage((await loadFirewall(store.read, zone.id)).rate_limits, page),
    get: async (zone, id) => limitNamed((await loadFirewall(store.read, zone.id)).rate_limits, id),
    create: (call, zone, write) => put(call, zone, null, write),
    update: (call, zone, id, write) => put(call, zone, id, write),
    delete: (call, zone, id) =>
      changeFirewall(deps, call, zone, async (edit) => {
        const limit = limitNamed((await edit.firewall()).rate_limits, id);
        await edit.remove("rate_limit", id);
        return limit;
      }),
  };
}

const invalid = (message: string, source: string): PlatformError => new PlatformError("firewall_invalid", { message, source });

function checkLimit(write: RateLimitWrite, zone: FirewallEdit["zone"]): void {
  const { match, action, bypass = [] } = write;
  const urls = [
    ...(match.request?.url === undefined ? [] : [{ url: match.request.url, at: "/match/request/url" }]),
    ...bypass.map(({ value }, index) => ({ url: value, at: `/bypass/${index}/value` })),
  ];
  for (const { url, at } of urls) {
    const problem = urlPatternProblem(url);
    if (problem !== null) throw invalid(`the address ${problem}`, at);
  }
  const challenges = action.mode.endsWith("challenge");
  if (!challenges && (action.timeout ?? 0) < 1)
    throw invalid(`mode ${action.mode} needs a timeout of at least a second`, "/action/timeout");
  if (challenges && (action.timeout ?? 0) > 0) throw invalid("a challenge cannot have a timeout", "/action/timeout");
  if (action.response !== undefined && action.mode !== "ban")
    throw invalid("a custom response is allowed only with mode ban", "/action/response");
  checkLength(normalRateLimit(write, zone));
}

/** The compiled expression must respect the usual length limit. */
function checkLength(write: Pick<RateLimit, "match" | "bypass">): void {
  try {
    const { expression, counting_expression } = limitExpressions(write);
    compileExpression(expression, "http_ratelimit");
    if (counting_expression !== null) compileExpression(counting_expression, "http_ratelimit", { counts: true });
  } catch (error) {
    if (error instanceof ExpressionError) throw invalid(`the rate limit cannot be compiled: ${error.message}`, "/match");
    throw error;
  }
}

function limitNamed(limits: readonly RateLimit[], id: string): RateLimit {
  const limit = limits.find((candidate) => candidate.id === id);
  if (limit === undefined) throw new PlatformError("firewall_object_not_found", { message: `could not find rate limit ${id}` });
  return limit;
}
