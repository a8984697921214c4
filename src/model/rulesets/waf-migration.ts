import { type Static, Type } from "typebox";
import type { PlanName } from "#model/zones/plan.ts";
import { RuleWrite } from "./ruleset.ts";

/** How far a zone has come on its way from the previous WAF (SPEC 3.3). `pending`: it has the new one alone. */
export const MIGRATION_STATES = ["start", "validation", "pending"] as const;
export type MigrationState = (typeof MIGRATION_STATES)[number];

/** What an update of the entry point asks for, by `waf_migration`. */
export type MigrationMode = "validation" | "pending";

/** SPEC 4.6: each mode has a number as well. */
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
  /** Plans that may; all of them where absent. */
  readonly plans?: readonly PlanName[];
}

/** SPEC 3.3. Nothing leads back, and a state that is reached may be asked for again: answers get lost. */
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

/** Of the update of an entry point; for `http_request_firewall_managed` alone. */
export const EntryPointQuery = Type.Object({
  waf_migration: Type.Optional(Type.Enum(Object.keys(MIGRATION_MODES))),
  phase_two: PhaseTwo,
  force: Type.Optional(Type.Boolean({ description: "Whether the zone may be left without any enabled rule." })),
});

const State = Type.Enum([...MIGRATION_STATES]);

export const WafMigrationCheck = Type.Object({ compatible: Type.Boolean(), migration_state: State });
export type WafMigrationCheck = Static<typeof WafMigrationCheck>;

/** What the update of the entry point takes. */
export const WafMigrationConfig = Type.Object({ name: Type.String(), rules: Type.Array(RuleWrite) });
export type WafMigrationConfig = Static<typeof WafMigrationConfig>;

const Status = Type.Enum(["enabled", "disabled"]);

export const WafMigrationStatus = Type.Object({ old_waf_status: Status, new_waf_status: Status, migration_state: State });
export type WafMigrationStatus = Static<typeof WafMigrationStatus>;

/** SPEC 8. */
export const MIGRATED_FIREWALL_RULES_MAX = 200;
export const MIGRATED_EXPRESSION_BYTES_MAX = 4096;
