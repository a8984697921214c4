import { type Static, Type } from "typebox";
import { RuleWriteAt } from "./ruleset.ts";

export const ExceptionRequest = Type.Object({
  event_id: Type.String({ minLength: 1, maxLength: 64, description: "A security event of the zone that a managed rule caused." }),
});
export type ExceptionRequest = Static<typeof ExceptionRequest>;

/** A rule that is not stored yet. */
export const ExceptionDraft = Type.Object({
  phase: Type.String({ description: "Where the rule belongs: the zone's entry point of this phase." }),
  ruleset_id: Type.Union([Type.String(), Type.Null()], { description: "That entry point; null if it does not exist." }),
  rule: RuleWriteAt,
});
export type ExceptionDraft = Static<typeof ExceptionDraft>;
