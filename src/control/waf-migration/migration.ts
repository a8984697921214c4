import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Call } from "#control/call.ts";
import { auditActor } from "#control/commit.ts";
import { isPreviousWafOn, slotEntries, slotOps } from "#control/previous-waf/entries.ts";
import { lockedZone } from "#control/previous-waf/firewall-edit.ts";
import { withNormalPatterns } from "#control/previous-waf/normal-patterns.ts";
import { loadFirewall, PREVIOUS_WAF_KINDS, type PreviousFirewall } from "#control/previous-waf/state.ts";
import type { Rulesets } from "#control/rulesets/rulesets.ts";
import type { RulesetScope } from "#control/rulesets/ruleset-scope.ts";
import { chosenIn } from "#control/open-zone/setting-views.ts";
import { planOf } from "#model/zones/plan.ts";
import type { Ruleset, RulesetUpdate, RuleWrite } from "#model/rulesets/ruleset.ts";
import {
  MIGRATION_MODES,
  type MigrationMode,
  type MigrationState,
  moveMigration,
  type WafMigrationCheck,
  type WafMigrationConfig,
  type WafMigrationStatus,
} from "#model/rulesets/waf-migration.ts";
import { EXPRESSION_CHARACTERS_MAX } from "#rules/expression/expression.ts";
import { deleteFirewallObjectsOf } from "#store/rulesets/firewall-objects.ts";
import { entryPoint } from "#store/rulesets/rulesets.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { updateZone, zoneRowById, type ZoneRow } from "#store/zones/zones.ts";
import { migrationBlockers, migrationExcess } from "./eligibility.ts";
import { hasEnabledRules, NEW_WAF_PHASE } from "#control/previous-waf/blocked-rules.ts";
import { lostModes, newConfig } from "./new-config.ts";

/** Migration from the previous WAF to the new one, which cannot be undone (SPEC 3.3, SPEC 4.6). */
export interface WafMigration {
  /** Adds notes to the call about why a zone is not compatible. */
  check(call: Call, zoneId: string, phaseTwo: boolean): Promise<WafMigrationCheck>;
  /** Throws `waf_migration_incompatible`, `waf_migration_too_large`, `previous_waf_gone`. */
  config(call: Call, zoneId: string, phaseTwo: boolean): Promise<WafMigrationConfig>;
  status(zoneId: string): Promise<WafMigrationStatus>;
  /**
   * Saves the new configuration and migrates in one unit. Throws `waf_migration_refused`, `waf_migration_unprotected`,
   * and the errors of `config` and of rulesets.
   */
  put(call: Call, scope: RulesetScope, phase: string, body: RulesetUpdate, step: MigrationStep): Promise<Ruleset>;
}

export interface MigrationStep {
  /** The mode in the query. */
  readonly mode: string;
  readonly phaseTwo: boolean;
  /** The zone may remain without any enabled rule. */
  readonly force: boolean;
}

export interface WafMigrationDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly rulesets: Rulesets;
}

export function createWafMigration({ store, clock, rulesets }: WafMigrationDeps): WafMigration {
  return {
    check: async (call, zoneId, phaseTwo) => {
      const { zone, firewall } = await load(store.read, zoneId);
      const blockers = migrationBlockers(firewall, isPreviousWafOn(zone), phaseTwo);
      if (blockers.length > 0) (call.notes ??= []).push(...blockers);
      return { compatible: blockers.length === 0, migration_state: stateOf(zone) };
    },
    config: async (call, zoneId, phaseTwo) => {
      const { zone, firewall } = await load(store.read, zoneId);
      if (stateOf(zone) === "pending") throw new PlatformError("previous_waf_gone");
      checkMigratable(zone, firewall, phaseTwo);
      const behind = lostModes(firewall);
      if (behind > 0)
        (call.notes ??= []).push(`${behind} modes of groups and rules of the OWASP package are not migrated; set them in the new ruleset.`);
      return { name: "default", rules: checkedLengths(newConfig(withNormalPatterns(firewall, zone), isPreviousWafOn(zone))) };
    },
    status: async (zoneId) => {
      const { zone, firewall } = await load(store.read, zoneId);
      const managed = await entryPoint(store.read, { level: "zone", owner_id: zoneId }, NEW_WAF_PHASE);
      return {
        old_waf_status: slotEntries(zone, firewall).previous_waf === null ? "disabled" : "enabled",
        new_waf_status: managed !== undefined && hasEnabledRules(managed) ? "enabled" : "disabled",
        migration_state: stateOf(zone),
      };
    },
    put: async (call, scope, phase, body, { mode: named, phaseTwo, force }) => {
      const mode = MIGRATION_MODES[named];
      const zoneId = scope.zone_id;
      if (phase !== NEW_WAF_PHASE || zoneId === null || mode === undefined)
        throw new PlatformError("waf_migration_refused", {
          message: `waf_migration is for the entry point of phase ${NEW_WAF_PHASE} of a zone`,
          source: "/waf_migration",
        });
      const protects = force || (body.rules ?? []).some(({ enabled = true }) => enabled);
      return rulesets.putEntryPoint(call, scope, phase, body, (unit) => takeStep(unit, call, clock, zoneId, { mode, phaseTwo, protects }));
    },
  };
}

const stateOf = (zone: ZoneRow): MigrationState => zone.waf_migration as MigrationState;

async function load(db: Unit["db"], zoneId: string): Promise<{ readonly zone: ZoneRow; readonly firewall: PreviousFirewall }> {
  const zone = await zoneRowById(db, zoneId);
  if (zone === undefined) throw new PlatformError("zone_not_found");
  return { zone, firewall: await loadFirewall(db, zoneId) };
}

function checkMigratable(zone: ZoneRow, firewall: PreviousFirewall, phaseTwo: boolean): void {
  const [blocker] = migrationBlockers(firewall, isPreviousWafOn(zone), phaseTwo);
  if (blocker !== undefined) throw new PlatformError("waf_migration_incompatible", { message: `The zone cannot migrate: ${blocker}.` });
  const excess = migrationExcess(firewall);
  if (excess !== null) throw new PlatformError("waf_migration_too_large", { message: `The zone cannot migrate: ${excess}.` });
}

/** Combining several page rules may exceed the maximum length of an expression. */
function checkedLengths(rules: readonly RuleWrite[]): RuleWrite[] {
  const long = rules.find(({ expression = "" }) => expression.length > EXPRESSION_CHARACTERS_MAX);
  if (long !== undefined)
    throw new PlatformError("waf_migration_too_large", {
      message: `The zone cannot migrate: the rule "${long.description}" would be longer than 4 KB; contact support.`,
    });
  return [...rules];
}

interface Step {
  readonly mode: MigrationMode;
  readonly phaseTwo: boolean;
  /** The new configuration has an enabled rule, or is not required to. */
  readonly protects: boolean;
}

/**
 * Changes the zone's state and disables the corresponding parts of the previous WAF, before the same unit saves the new
 * configuration.
 */
async function takeStep(unit: Unit, call: Call, clock: Clock, zoneId: string, { mode, phaseTwo, protects }: Step): Promise<void> {
  const zone = await lockedZone(unit, zoneId);
  const from = stateOf(zone);
  const to = targetOf(zone, mode);
  if (to === "pending" && from === "pending") return;
  const firewall = await loadFirewall(unit.db, zoneId);
  checkMigratable(zone, firewall, phaseTwo);
  if (from === to) return;
  // The previous WAF cannot be restored.
  if (to === "pending" && !protects) throw new PlatformError("waf_migration_unprotected", { source: "/rules" });
  const columns = { waf_migration: to, ...(to === "pending" ? { edge_settings: withoutWaf(zone, isoMicros(clock.nowMicros())) } : {}) };
  await updateZone(unit.db, zoneId, columns);
  for (const op of slotOps(zone, slotEntries(zone, firewall), slotEntries({ ...zone, ...columns }, firewall))) unit.change(op);
  if (to === "pending") await deleteFirewallObjectsOf(unit.db, zoneId, PREVIOUS_WAF_KINDS);
  unit.audit({
    action: "waf_migration.step",
    actor: auditActor(call),
    account_id: zone.account_id,
    zone_id: zoneId,
    resource: { type: "zone", id: zoneId },
    before: { migration_state: from },
    after: { migration_state: to },
  });
}

function targetOf(zone: ZoneRow, mode: MigrationMode): MigrationState {
  const move = moveMigration(stateOf(zone), mode, planOf(zone.plan).name);
  if ("to" in move) return move.to;
  const message =
    move.refused === "plan"
      ? "Validation mode is available only for zones of the Enterprise plan; use waf_migration=pending."
      : "The zone has migrated, and the migration cannot be undone.";
  throw new PlatformError("waf_migration_refused", { message, source: "/waf_migration" });
}

/** `zones.edge_settings` with the previous WAF off. */
function withoutWaf(zone: ZoneRow, modified_on: string): string {
  const chosen = chosenIn(zone);
  return chosen.waf === undefined ? zone.edge_settings : JSON.stringify({ ...chosen, waf: { value: "off", modified_on } });
}
