import type { Call } from "#control/call.ts";
import { pagePolicyExpression } from "#control/previous-waf/compile-tools.ts";
import { changeFirewall, type FirewallDeps, type FirewallEdit, type FirewallOwner } from "#control/previous-waf/firewall-edit.ts";
import { loadFirewall } from "#control/previous-waf/state.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import {
  PAGE_POLICIES_MAX,
  type PagePolicy,
  type PagePolicyEdit,
  type PagePolicyWrite,
  policyValueProblem,
} from "#model/rulesets/page-policy.ts";
import { compileExpression, ExpressionError } from "#rules/expression/expression.ts";
import { PREVIOUS_SLOTS } from "#rules/previous-waf/slots.ts";

/** Content Security Policies of a zone's pages. Throws `not_found`, and `invalid_input` with the field. */
export interface PagePolicies {
  list(zoneId: string): Promise<readonly PagePolicy[]>;
  get(zoneId: string, id: string): Promise<PagePolicy>;
  create(call: Call, zone: FirewallOwner, write: PagePolicyWrite): Promise<PagePolicy>;
  update(call: Call, zone: FirewallOwner, id: string, edit: PagePolicyEdit): Promise<PagePolicy>;
  delete(call: Call, zone: FirewallOwner, id: string): Promise<null>;
}

export function createPagePolicies(deps: FirewallDeps): PagePolicies {
  const all = async (zoneId: string): Promise<readonly PagePolicy[]> => (await loadFirewall(deps.store.read, zoneId)).page_policies;
  const put = async (edit: FirewallEdit, id: string, write: PagePolicyWrite, verb: "create" | "update"): Promise<PagePolicy> => {
    const { description, action, expression, enabled, value } = write;
    const stored = { description, action, expression, enabled, value: action === "add_reporting_directives" ? "" : checkedValue(value) };
    checkExpression(expression, action);
    await edit.put("page_policy", id, stored, verb);
    return { id, ...stored };
  };
  return {
    list: all,
    get: async (zoneId, id) => named(await all(zoneId), id),
    create: (call, zone, write) =>
      changeFirewall(deps, call, zone, async (edit) => {
        const { page_policies: known } = await edit.firewall();
        if (known.length >= PAGE_POLICIES_MAX) throw invalid(`A zone has at most ${PAGE_POLICIES_MAX} policies.`, "");
        return put(edit, newId(), write, "create");
      }),
    update: (call, zone, id, change) =>
      changeFirewall(deps, call, zone, async (edit) =>
        put(edit, id, { ...named((await edit.firewall()).page_policies, id), ...change }, "update"),
      ),
    delete: (call, zone, id) =>
      changeFirewall(deps, call, zone, async (edit) => {
        named((await edit.firewall()).page_policies, id);
        await edit.remove("page_policy", id);
        return null;
      }),
  };
}

const invalid = (message: string, source: string): PlatformError => new PlatformError("invalid_input", { message, source });

function named(policies: readonly PagePolicy[], id: string): PagePolicy {
  const policy = policies.find((candidate) => candidate.id === id);
  if (policy === undefined) throw new PlatformError("not_found", { message: "No policy has this identifier." });
  return policy;
}

function checkedValue(value: string): string {
  const problem = policyValueProblem(value);
  if (problem !== null) throw invalid(problem, "/value");
  const text = value.trim();
  return text.endsWith(";") ? text.slice(0, -1).trimEnd() : text;
}

/** Alone first, so that an expression cannot close the bracket in which it runs. */
function checkExpression(expression: string, action: PagePolicy["action"]): void {
  try {
    for (const text of [expression, pagePolicyExpression(expression, action)]) compileExpression(text, PREVIOUS_SLOTS.page_shield.phase);
  } catch (error) {
    if (error instanceof ExpressionError) throw invalid(error.message, "/expression");
    throw error;
  }
}
