import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { WafMigrationCheck, WafMigrationConfig, WafMigrationQuery, WafMigrationStatus } from "#model/rulesets/waf-migration.ts";

const MIGRATION = "/zones/:zone_id/waf_migration";
const read = { method: "GET", scope: "zone", permissions: ["Zone WAF Read", "Zone WAF Write"], paging: "one" } as const;

/** SPEC 4.6. The step itself is an update of the new WAF's entry point (rulesets.ts). */
export const WAF_MIGRATION_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: `${MIGRATION}/check`,
    id: "waf-migration-check",
    summary: "Show whether the zone can migrate from the previous WAF",
    query: WafMigrationQuery,
    result: WafMigrationCheck,
    handler: ({ control, call, resolved, query }) => control.wafMigration.check(call, zoneOf(resolved).id, query.phase_two === true),
  }),
  route({
    ...read,
    path: `${MIGRATION}/config`,
    id: "waf-migration-config",
    summary: "Show the new WAF configuration that is equivalent to the previous one",
    query: WafMigrationQuery,
    result: WafMigrationConfig,
    handler: ({ control, call, resolved, query }) => control.wafMigration.config(call, zoneOf(resolved).id, query.phase_two === true),
  }),
  route({
    ...read,
    path: `${MIGRATION}/status`,
    id: "waf-migration-status",
    summary: "Show which WAF is active and the migration status of the zone",
    result: WafMigrationStatus,
    handler: ({ control, resolved }) => control.wafMigration.status(zoneOf(resolved).id),
  }),
];
