import { type Static, Type } from "typebox";

/** User-agent rules: the actions for visitors with one exact `User-Agent`. */
export const UA_RULES_MAX = 1000;

const fields = {
  configuration: Type.Object({ target: Type.Enum(["ua"]), value: Type.String({ minLength: 1, maxLength: 2048 }) }),
  mode: Type.Enum(["block", "challenge", "js_challenge", "managed_challenge"]),
  description: Type.Optional(Type.String({ maxLength: 1024 })),
  paused: Type.Optional(Type.Boolean()),
};

export const UaRuleWrite = Type.Object(fields);
export type UaRuleWrite = Static<typeof UaRuleWrite>;

export const UaRule = Type.Object({ id: Type.String({ maxLength: 32 }), ...fields, description: Type.String(), paused: Type.Boolean() });
export type UaRule = Static<typeof UaRule>;

export const UaRuleQuery = Type.Object({
  description: Type.Optional(Type.String({ maxLength: 1024 })),
  user_agent: Type.Optional(Type.String({ maxLength: 2048 })),
  paused: Type.Optional(Type.Boolean()),
});
export type UaRuleQuery = Static<typeof UaRuleQuery>;
