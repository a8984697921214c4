import { PlatformError } from "#kernel/errors/errors.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import {
  RULE_MODES,
  type RuleMode,
  type WafGroupView,
  type WafPackageEdit,
  type WafPackageView,
  type WafRuleView,
} from "#model/rulesets/previous-waf.ts";
import { packageById, type PackageGroup, type PackageRule, WAF_PACKAGES, type WafPackage } from "#rules/previous-waf/packages.ts";
import type { Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { changeFirewall, type FirewallDeps, type FirewallEdit, type FirewallOwner } from "./firewall-edit.ts";
import { firewallPage, holdsText } from "./firewall-page.ts";
import { PACKAGE_DEFAULTS, traditionalAction } from "./package-settings.ts";
import { loadFirewall, type PreviousFirewall } from "./state.ts";

export interface GroupQuery {
  readonly mode?: "on" | "off";
  readonly name?: string;
}
export interface RuleQuery {
  readonly mode?: "DIS" | "CHL" | "BLK" | "SIM";
  readonly group_id?: string;
  readonly description?: string;
}

/**
 * Packages of the previous WAF with their groups and rules. Throws `firewall_object_not_found`, `firewall_invalid`,
 * `previous_waf_gone`.
 */
export interface WafPackages {
  list(zone: FirewallOwner, name: string | undefined, page: PageRequest): Promise<Page<WafPackageView>>;
  get(zone: FirewallOwner, id: string): Promise<WafPackageView>;
  edit(call: Call, zone: FirewallOwner, id: string, change: WafPackageEdit): Promise<WafPackageView>;
  groups(zone: FirewallOwner, packageId: string, query: GroupQuery, page: PageRequest): Promise<Page<WafGroupView>>;
  group(zone: FirewallOwner, packageId: string, id: string): Promise<WafGroupView>;
  editGroup(call: Call, zone: FirewallOwner, packageId: string, id: string, mode: "on" | "off"): Promise<WafGroupView>;
  rules(zone: FirewallOwner, packageId: string, query: RuleQuery, page: PageRequest): Promise<Page<WafRuleView>>;
  rule(zone: FirewallOwner, packageId: string, id: string): Promise<WafRuleView>;
  editRule(call: Call, zone: FirewallOwner, packageId: string, id: string, mode: RuleMode): Promise<WafRuleView>;
}

export function createWafPackages(deps: FirewallDeps): WafPackages {
  const { store } = deps;
  const read = (zone: FirewallOwner): Promise<PreviousFirewall> => readPreviousWaf(store.read, zone.id);
  const change = <T>(call: Call, zone: FirewallOwner, work: (edit: FirewallEdit) => Promise<T>): Promise<T> =>
    changeFirewall(deps, call, zone, async (edit) => {
      refuseGone(edit.zone.waf_migration);
      return work(edit);
    });

  return {
    list: async (zone, name, page) => {
      const firewall = await read(zone);
      const shown = WAF_PACKAGES.filter((pack) => holdsText(pack.name, name));
      return firewallPage(
        shown.map((pack) => packageView(pack, firewall, zone.id)),
        page,
      );
    },
    get: async (zone, id) => packageView(packageNamed(id), await read(zone), zone.id),
    edit: (call, zone, id, { sensitivity, action_mode }) =>
      change(call, zone, async (edit) => {
        const pack = packageNamed(id);
        if (pack.detection_mode !== "anomaly")
          throw new PlatformError("firewall_invalid", { message: "only a package with detection_mode anomaly has settings" });
        const before = (await edit.firewall()).packages.get(id) ?? {};
        const value = {
          ...before,
          ...(sensitivity === undefined ? {} : { sensitivity }),
          ...(action_mode === undefined ? {} : { action_mode }),
        };
        await edit.put("waf_package", id, value, "update");
        return packageView(pack, await edit.firewall(), zone.id);
      }),
    groups: async (zone, packageId, query, page) => {
      const [pack, firewall] = [packageNamed(packageId), await read(zone)];
      const shown = pack.groups
        .map((group) => groupView(pack, group, firewall))
        .filter(({ mode, name }) => (query.mode ?? mode) === mode && holdsText(name, query.name));
      return firewallPage(shown, page);
    },
    group: async (zone, packageId, id) => {
      const pack = packageNamed(packageId);
      return groupView(pack, groupNamed(pack, id), await read(zone));
    },
    editGroup: (call, zone, packageId, id, mode) =>
      change(call, zone, async (edit) => {
        const pack = packageNamed(packageId);
        const group = groupNamed(pack, id);
        await edit.put("waf_group", id, mode, "update");
        return groupView(pack, group, await edit.firewall());
      }),
    rules: async (zone, packageId, query, page) => {
      const [pack, firewall] = [packageNamed(packageId), await read(zone)];
      const shown = pack.rules.filter((rule) => fits(pack, rule, firewall, query)).map((rule) => ruleView(pack, rule, firewall));
      return firewallPage(shown, page);
    },
    rule: async (zone, packageId, id) => {
      const pack = packageNamed(packageId);
      return ruleView(pack, ruleNamed(pack, id), await read(zone));
    },
    editRule: (call, zone, packageId, id, mode) =>
      change(call, zone, async (edit) => {
        const pack = packageNamed(packageId);
        const rule = ruleNamed(pack, id);
        const allowed = modesOf(pack);
        if (!allowed.includes(mode))
          throw new PlatformError("firewall_invalid", { message: `the mode of this rule can be ${allowed.join(", ")}`, source: "/mode" });
        await edit.put("waf_rule", id, mode, "update");
        return ruleView(pack, rule, await edit.firewall());
      }),
  };
}

/** The zone's firewall, while it has a previous WAF. Throws `previous_waf_gone`, `zone_not_found`. */
export async function readPreviousWaf(db: Unit["db"], zoneId: string): Promise<PreviousFirewall> {
  const zone = await zoneRowById(db, zoneId);
  if (zone === undefined) throw new PlatformError("zone_not_found");
  refuseGone(zone.waf_migration);
  return loadFirewall(db, zoneId);
}

/** SPEC 8: after the migration, the previous WAF's API stops working. */
export function refuseGone(migration: string): void {
  if (migration === "pending") throw new PlatformError("previous_waf_gone");
}

const absent = (what: string, id: string): PlatformError =>
  new PlatformError("firewall_object_not_found", { message: `could not find ${what} ${id}` });

function packageNamed(id: string): WafPackage {
  const pack = packageById(id);
  if (pack === undefined) throw absent("WAF package", id);
  return pack;
}

function groupNamed(pack: WafPackage, id: string): PackageGroup {
  const group = pack.groups.find((candidate) => candidate.id === id);
  if (group === undefined) throw absent("rule group", id);
  return group;
}

function ruleNamed(pack: WafPackage, id: string): PackageRule {
  const rule = pack.rules.find((candidate) => candidate.id === id);
  if (rule === undefined) throw absent("rule", id);
  return rule;
}

const packageView = (
  { id, name, description, detection_mode }: WafPackage,
  firewall: PreviousFirewall,
  zone_id: string,
): WafPackageView => ({
  id,
  name,
  description,
  detection_mode,
  zone_id,
  status: "active",
  ...(detection_mode === "anomaly" ? { ...PACKAGE_DEFAULTS, ...firewall.packages.get(id) } : {}),
});

const groupView = (pack: WafPackage, group: PackageGroup, firewall: PreviousFirewall): WafGroupView => {
  const rules = pack.rules.filter(({ group_id }) => group_id === group.id);
  return {
    id: group.id,
    name: group.name,
    description: group.description,
    mode: firewall.groups.get(group.id) ?? "on",
    allowed_modes: ["on", "off"],
    rules_count: rules.length,
    modified_rules_count: rules.filter(({ id }) => modeOf(pack, id, firewall) !== modesOf(pack)[0]).length,
    package_id: pack.id,
  };
};

/** The allowed modes; the first is the default. */
const modesOf = ({ detection_mode }: WafPackage): readonly RuleMode[] => (detection_mode === "anomaly" ? ["on", "off"] : RULE_MODES);

const modeOf = (pack: WafPackage, id: string, firewall: PreviousFirewall): RuleMode => firewall.rules.get(id) ?? modesOf(pack)[0] ?? "on";

const ruleView = (pack: WafPackage, rule: PackageRule, firewall: PreviousFirewall): WafRuleView => ({
  id: rule.id,
  description: rule.description,
  priority: String(pack.rules.indexOf(rule) + 1),
  package_id: pack.id,
  group: { id: rule.group_id, name: pack.groups.find(({ id }) => id === rule.group_id)?.name ?? "" },
  mode: modeOf(pack, rule.id, firewall),
  ...(pack.detection_mode === "traditional" ? { default_mode: rule.default_mode } : {}),
  allowed_modes: [...modesOf(pack)],
});

const SHORT = { DIS: "disable", CHL: "challenge", BLK: "block", SIM: "simulate" } as const;

function fits(pack: WafPackage, rule: PackageRule, firewall: PreviousFirewall, query: RuleQuery): boolean {
  if (!holdsText(rule.description, query.description) || (query.group_id ?? rule.group_id) !== rule.group_id) return false;
  if (query.mode === undefined) return true;
  if (pack.detection_mode === "anomaly") return (query.mode === "DIS") === (modeOf(pack, rule.id, firewall) === "off");
  return traditionalAction(rule, firewall, null) === SHORT[query.mode];
}
