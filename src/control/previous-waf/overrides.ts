import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { OVERRIDES_MAX, type WafOverride, type WafOverrideWrite } from "#model/rulesets/previous-waf.ts";
import { WAF_PACKAGES } from "#rules/previous-waf/packages.ts";
import { urlPatternProblem } from "#rules/previous-waf/url-pattern.ts";
import { checkSize } from "./check-size.ts";
import { changeFirewall, type FirewallDeps, type FirewallOwner } from "./firewall-edit.ts";
import { firewallPage } from "./firewall-page.ts";
import { readPreviousWaf, refuseGone } from "./packages.ts";

/** Settings of the previous WAF for URLs. Throws `firewall_object_not_found`, `firewall_invalid`, `previous_waf_gone`. */
export interface WafOverrides {
  list(zone: FirewallOwner, page: PageRequest): Promise<Page<WafOverride>>;
  get(zone: FirewallOwner, id: string): Promise<WafOverride>;
  create(call: Call, zone: FirewallOwner, write: WafOverrideWrite): Promise<WafOverride>;
  update(call: Call, zone: FirewallOwner, id: string, write: WafOverrideWrite): Promise<WafOverride>;
  delete(call: Call, zone: FirewallOwner, id: string): Promise<{ id: string }>;
}

export function createWafOverrides(deps: FirewallDeps): WafOverrides {
  const { store } = deps;
  const put = (call: Call, zone: FirewallOwner, id: string | null, write: WafOverrideWrite): Promise<WafOverride> =>
    changeFirewall(deps, call, zone, async (edit) => {
      refuseGone(edit.zone.waf_migration);
      const { overrides } = await edit.firewall();
      if (id !== null) overrideNamed(overrides, id);
      else if (overrides.length >= OVERRIDES_MAX)
        throw new PlatformError("firewall_invalid", { message: `a zone has at most ${OVERRIDES_MAX} overrides` });
      checkOverride(write);
      const { urls, description = null, paused = false, priority = 1, groups = {}, rules = {}, rewrite_action = {} } = write;
      const value = { urls, description, paused, priority, groups, rules, rewrite_action };
      const override = { id: id ?? newId(), ...value };
      await edit.put("waf_override", override.id, value, id === null ? "create" : "update");
      checkSize(await edit.firewall(), edit.zone);
      return override;
    });

  return {
    list: async (zone, page) => firewallPage((await readPreviousWaf(store.read, zone.id)).overrides, page),
    get: async (zone, id) => overrideNamed((await readPreviousWaf(store.read, zone.id)).overrides, id),
    create: (call, zone, write) => put(call, zone, null, write),
    update: (call, zone, id, write) => put(call, zone, id, write),
    delete: (call, zone, id) =>
      changeFirewall(deps, call, zone, async (edit) => {
        refuseGone(edit.zone.waf_migration);
        overrideNamed((await edit.firewall()).overrides, id);
        await edit.remove("waf_override", id);
        return { id };
      }),
  };
}

const GROUP_IDS = new Set(WAF_PACKAGES.flatMap(({ groups }) => groups.map(({ id }) => id)));
const RULE_IDS = new Set(WAF_PACKAGES.flatMap(({ rules }) => rules.map(({ id }) => id)));

function checkOverride({ urls, groups = {}, rules = {} }: WafOverrideWrite): void {
  for (const [index, url] of urls.entries()) {
    const problem = urlPatternProblem(url);
    if (problem !== null) throw new PlatformError("firewall_invalid", { message: `the address ${problem}`, source: `/urls/${index}` });
  }
  const group = Object.keys(groups).find((id) => !GROUP_IDS.has(id));
  if (group !== undefined)
    throw new PlatformError("firewall_invalid", { message: `no package has a group ${JSON.stringify(group)}`, source: "/groups" });
  const rule = Object.keys(rules).find((id) => !RULE_IDS.has(id));
  if (rule !== undefined)
    throw new PlatformError("firewall_invalid", { message: `no package has a rule ${JSON.stringify(rule)}`, source: "/rules" });
}

function overrideNamed(overrides: readonly WafOverride[], id: string): WafOverride {
  const override = overrides.find((candidate) => candidate.id === id);
  if (override === undefined) throw new PlatformError("firewall_object_not_found", { message: `could not find WAF override ${id}` });
  return override;
}
