import { randomBytes } from "node:crypto";
import { Type, type Static } from "typebox";

const Filter = Type.Object({
  mode: Type.Literal("filter"),
  values: Type.Array(Type.String({ maxLength: 256 }), { minItems: 1, maxItems: 100 }),
});
const Partition = Type.Object({ mode: Type.Literal("partition") });

const Rule = Type.Object({
  id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  enabled: Type.Optional(Type.Boolean({ default: true })),
  limit: Type.Number({ minimum: 0, description: "US dollars in each window." }),
  limitType: Type.Literal("cost"),
  window: Type.Integer({ minimum: 1, maximum: 31_536_000, description: "Seconds." }),
  technique: Type.Optional(Type.Enum(["fixed", "sliding"], { default: "sliding" })),
  provider: Type.Optional(Filter),
  model: Type.Optional(Filter),
  metadata: Type.Optional(
    Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Type.Union([Filter, Partition]), {
      maxProperties: 5,
      description: "Which requests count, by their metadata; a partition has a separate count for each value.",
    }),
  ),
});

/** Limits on the total cost of a gateway's requests. */
export const SpendLimits = Type.Object({
  enabled: Type.Optional(Type.Boolean({ default: false })),
  rules: Type.Optional(Type.Array(Rule, { maxItems: 20 })),
});
export type SpendLimits = Static<typeof SpendLimits>;

type SpendRule = Static<typeof Rule>;
/** The stored form: every rule has an id, under which its spending is counted. */
export interface StoredSpendLimits {
  readonly enabled: boolean;
  readonly rules: readonly (SpendRule & Required<Pick<SpendRule, "id" | "enabled" | "technique">>)[];
}

/** Adds defaults. Undefined if two rules have the same id. */
export function storedSpendLimits({ enabled = false, rules = [] }: SpendLimits): StoredSpendLimits | undefined {
  const stored = rules.map((rule) => ({
    ...rule,
    id: rule.id ?? randomBytes(4).toString("hex"),
    enabled: rule.enabled ?? true,
    technique: rule.technique ?? ("sliding" as const),
  }));
  return new Set(stored.map(({ id }) => id)).size === stored.length ? { enabled, rules: stored } : undefined;
}
