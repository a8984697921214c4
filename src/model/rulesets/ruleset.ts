import { documented } from "#model/documented.ts";
import { Type, type Static } from "typebox";

export const RULESET_KINDS = ["managed", "custom", "root", "zone"] as const;

const Timestamp = Type.String({ format: "date-time" });
const Parameters = Type.Record(Type.String(), Type.Unknown());
const Logging = Type.Object({ enabled: Type.Boolean() });

/** A rule in responses (SPEC 2.6). */
export const Rule = Type.Object({
  id: Type.String(),
  version: Type.String(),
  action: Type.String(),
  action_parameters: Type.Optional(Parameters),
  expression: Type.Optional(Type.String()),
  description: Type.String(),
  ref: Type.Optional(Type.String()),
  last_updated: Timestamp,
  enabled: Type.Boolean(),
  categories: Type.Optional(Type.Array(Type.String())),
  score_threshold: Type.Optional(Type.Integer()),
  logging: Type.Optional(Logging),
  ratelimit: Type.Optional(Parameters),
});
export type Rule = Static<typeof Rule>;

/** A ruleset without its rules, as in lists. */
export const RulesetSummary = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  kind: Type.Enum([...RULESET_KINDS]),
  phase: Type.String(),
  version: Type.String(),
  last_updated: Timestamp,
  source: Type.Optional(Type.String()),
});
export type RulesetSummary = Static<typeof RulesetSummary>;

export const Ruleset = Type.Object({ ...RulesetSummary.properties, rules: Type.Array(Rule) });
export type Ruleset = Static<typeof Ruleset>;

/** Of a rule in the phase `http_ratelimit`. */
const RateLimit = Type.Object({
  characteristics: Type.Array(Type.String(), { description: "Fields whose values count separately." }),
  period: Type.Integer({ description: "Seconds." }),
  requests_per_period: Type.Optional(Type.Integer()),
  mitigation_timeout: Type.Optional(Type.Integer({ description: "Seconds." })),
  counting_expression: Type.Optional(Type.String()),
  requests_to_origin: Type.Optional(Type.Boolean()),
  score_per_period: Type.Optional(Type.Integer()),
  score_response_header_name: Type.Optional(Type.String()),
});
const CredentialCheck = Type.Object({ username_expression: Type.String(), password_expression: Type.String() });

/** `id`, `version` and `ref` may be empty strings (SPEC 4.6). The rule's own checks handle fields that are not listed here. */
export const RuleWrite = Type.Object({
  id: Type.Optional(Type.String({ maxLength: 64 })),
  ref: Type.Optional(Type.String({ maxLength: 64 })),
  version: Type.Optional(Type.String({ maxLength: 64 })),
  action: Type.Optional(Type.String({ maxLength: 64 })),
  action_parameters: Type.Optional(Parameters),
  expression: Type.Optional(Type.String()),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
  enabled: Type.Optional(Type.Boolean()),
  logging: Type.Optional(Logging),
  ratelimit: Type.Optional(documented(RateLimit)),
  exposed_credential_check: Type.Optional(documented(CredentialCheck)),
});
export type RuleWrite = Static<typeof RuleWrite>;

/** Before or after a rule, or at an index from 1; an empty `before` means first, an empty `after` last. */
export const Position = Type.Object({
  before: Type.Optional(Type.String({ maxLength: 64 })),
  after: Type.Optional(Type.String({ maxLength: 64 })),
  index: Type.Optional(Type.Integer({ minimum: 1 })),
});
export type Position = Static<typeof Position>;

export const RuleWriteAt = Type.Object({ ...RuleWrite.properties, position: Type.Optional(Position) });
export type RuleWriteAt = Static<typeof RuleWriteAt>;

/** Also limits the work of one save, because each expression is compiled. */
export const RULES_MAX = 1000;

export const RulesetUpdate = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 256 })),
  description: Type.Optional(Type.String({ maxLength: 1000 })),
  kind: Type.Optional(Type.String()),
  phase: Type.Optional(Type.String()),
  rules: Type.Optional(Type.Array(RuleWrite, { maxItems: RULES_MAX })),
});
export type RulesetUpdate = Static<typeof RulesetUpdate>;

export const RulesetCreate = Type.Object({ ...RulesetUpdate.properties, kind: Type.String(), phase: Type.String() });
export type RulesetCreate = Static<typeof RulesetCreate>;
