import { type Static, Type } from "typebox";
import type { PlanName } from "#model/zones/plan.ts";
import { RuleWrite } from "./ruleset.ts";

/** Progress of a zone's migration from the previous WAF (SPEC 3.3). `pending`: only the new one is active. */
export const MIGRATION_STATES = ["start", "validation", "pending"] as const;
export type MigrationState = (typeof MIGRATION_STATES)[number];

/** The migration that an update of the entry point requests with `waf_migration`. */
export type MigrationMode = "validation" | "pending";

/** SPEC 4.6: each mode also has a number. */
export const MIGRATION_MODES: Readonly<Record<string, MigrationMode>> = {
  pending: "pending",
  "1": "pending",
  validation: "validation",
  "2": "validation",
};

interface Move {
  readonly from: MigrationState;
  readonly mode: MigrationMode;
  readonly to: MigrationState;
  /** Plans that allow it; absent: all. */
  readonly plans?: readonly PlanName[];
}

/** SPEC 3.3. Migration never goes back; requesting the current state again is allowed, because responses may be lost. */
export const MIGRATION_MOVES: readonly Move[] = [
  { from: "start", mode: "validation", to: "validation", plans: ["enterprise"] },
  { from: "start", mode: "pending", to: "pending" },
  { from: "validation", mode: "validation", to: "validation", plans: ["enterprise"] },
  { from: "validation", mode: "pending", to: "pending" },
  { from: "pending", mode: "pending", to: "pending" },
];

export type MoveResult = { readonly to: MigrationState } | { readonly refused: "plan" | "irreversible" };

export function moveMigration(from: MigrationState, mode: MigrationMode, plan: PlanName): MoveResult {
  const move = MIGRATION_MOVES.find((row) => row.from === from && row.mode === mode);
  if (move === undefined) return { refused: "irreversible" };
  return move.plans === undefined || move.plans.includes(plan) ? { to: move.to } : { refused: "plan" };
}

const PhaseTwo = Type.Optional(
  Type.Boolean({ description: "Whether the wider rules of the second phase decide which zones can migrate." }),
);

export const WafMigrationQuery = Type.Object({ phase_two: PhaseTwo });

/** Query of an entry point's update; for `http_request_firewall_managed` only. */
export const EntryPointQuery = Type.Object({
  waf_migration: Type.Optional(Type.Enum(Object.keys(MIGRATION_MODES))),
  phase_two: PhaseTwo,
  force: Type.Optional(Type.Boolean({ description: "Whether the zone may be left without any enabled rule." })),
});

const State = Type.Enum([...MIGRATION_STATES]);

export const WafMigrationCheck = Type.Object({ compatible: Type.Boolean(), migration_state: State });
export type WafMigrationCheck = Static<typeof WafMigrationCheck>;

/** Body of the entry point's update. */
export const WafMigrationConfig = Type.Object({ name: Type.String(), rules: Type.Array(RuleWrite) });
export type WafMigrationConfig = Static<typeof WafMigrationConfig>;

const Status = Type.Enum(["enabled", "disabled"]);

export const WafMigrationStatus = Type.Object({ old_waf_status: Status, new_waf_status: Status, migration_state: State });
export type WafMigrationStatus = Static<typeof WafMigrationStatus>;

/** SPEC 8. */
export const MIGRATED_FIREWALL_RULES_MAX = 200;
export const MIGRATED_EXPRESSION_BYTES_MAX = 4096;
