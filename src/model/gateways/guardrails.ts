import { Type, type Static } from "typebox";

const Action = Type.Enum(["FLAG", "BLOCK"]);
const CATEGORIES = ["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S11", "S12", "S13"] as const;

const Side = Type.Partial(
  Type.Object({
    ...(Object.fromEntries(CATEGORIES.map((name) => [name, Action])) as Record<(typeof CATEGORIES)[number], typeof Action>),
    P1: Action,
  }),
);

/** Hazards that a safety model detects in prompts and responses, and the action for each. */
export const Guardrails = Type.Object({ prompt: Side, response: Side });
export type Guardrails = Static<typeof Guardrails>;

/**
 * Why these guardrails are refused; undefined if they are valid. Prompt attacks are not a hazard category, so safety
 * models do not detect them.
 */
export function guardrailsProblem(
  { prompt, response }: Guardrails,
  hasModel: boolean,
): { readonly message: string; readonly source: string } | undefined {
  for (const [side, chosen] of Object.entries({ prompt, response }))
    if (chosen.P1 !== undefined)
      return { message: "P1 (prompt attacks) is not supported in this version.", source: `/guardrails/${side}/P1` };
  const isUsed = Object.keys(prompt).length + Object.keys(response).length > 0;
  if (!isUsed || hasModel) return undefined;
  return {
    message:
      "Guardrails need a model that classifies hazards: the operator must set gateway.guardrail_model, for example to groq/meta-llama/llama-guard-4-12b.",
    source: "/guardrails",
  };
}
