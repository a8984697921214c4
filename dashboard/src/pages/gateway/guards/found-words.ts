import type { GatewayLog } from "#model/gateways/gateway-log.ts";
import type { Guardrails } from "#model/gateways/guardrails.ts";

export type Category = Exclude<keyof Guardrails["prompt"], "P1">;

/** The categories of safety models. */
export const HAZARDS = {
  S1: ["Violent crimes", "terror, murder, assault, abuse"],
  S2: ["Other crimes", "fraud, theft, drugs, weapons, hacking"],
  S3: ["Sexual crimes", "trafficking, assault, harassment"],
  S4: ["Exploitation of children", "sexual content with children"],
  S5: ["Defamation", "false statements that injure a person"],
  S6: ["Specialist advice", "medical, legal or financial advice that may harm"],
  S7: ["Privacy", "sensitive facts about persons"],
  S8: ["Intellectual property", "copies of protected works"],
  S9: ["Weapons of mass destruction", "chemical, biological, nuclear"],
  S10: ["Hate", "against people for what they are"],
  S11: ["Self-harm", "suicide, eating disorders"],
  S12: ["Sexual content", "erotic texts"],
  S13: ["Elections", "wrong facts about when and how to vote"],
} as const satisfies Readonly<Record<Category, readonly [string, string]>>;

/** A block of either protection is a block. */
export const foundAction = ({ dlp_action: data, guardrail_action: hazards }: GatewayLog): "blocked" | "flagged" | undefined =>
  data === "BLOCK" || hazards === "BLOCK" ? "blocked" : data === "FLAG" || hazards === "FLAG" ? "flagged" : undefined;

const SIDES = { prompt: "the prompt", response: "the answer" } as const;

/** All that was found, as a sentence's part; empty if nothing was. */
export function foundWords(log: GatewayLog): string {
  const found = log.guardrail_findings === "" ? {} : (JSON.parse(log.guardrail_findings) as Partial<Record<keyof typeof SIDES, string[]>>);
  const hazards = (["prompt", "response"] as const).flatMap((side) => {
    const names = found[side]?.map((name) => HAZARDS[name as Category]?.[0] ?? name);
    return names ? [`${names.join(", ").toLowerCase()} in ${SIDES[side]}`] : [];
  });
  return [...(log.dlp_action === "" ? [] : ["sensitive data"]), ...hazards].join("; ");
}
