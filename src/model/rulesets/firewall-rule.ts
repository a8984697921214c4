import { type Static, Type } from "typebox";

/** Filters and firewall rules, which rules of `http_request_firewall_custom` replaced (SPEC 9, 2025-06-15). */
const Id = Type.String({ minLength: 32, maxLength: 32 });
const Description = Type.String({ maxLength: 500 });
const Ref = Type.String({ maxLength: 50 });

export const FIREWALL_OBJECTS_MAX = 1000;

export const Filter = Type.Object({
  id: Id,
  paused: Type.Boolean(),
  description: Type.Optional(Description),
  expression: Type.String(),
  ref: Type.Optional(Ref),
});
export type Filter = Static<typeof Filter>;

export const FilterWrite = Type.Object({
  id: Type.Optional(Type.String({ maxLength: 32 })),
  paused: Type.Optional(Type.Boolean()),
  description: Type.Optional(Description),
  expression: Type.Optional(Type.String({ minLength: 1, maxLength: 8192 })),
  ref: Type.Optional(Ref),
});
export type FilterWrite = Static<typeof FilterWrite>;

/** One filter or several: published clients send both. */
export const FilterWrites = Type.Union([Type.Array(FilterWrite, { minItems: 1, maxItems: FIREWALL_OBJECTS_MAX }), FilterWrite]);

export const FIREWALL_ACTIONS = ["log", "bypass", "allow", "managed_challenge", "js_challenge", "challenge", "block"] as const;
export type FirewallAction = (typeof FIREWALL_ACTIONS)[number];

const Product = Type.Enum(["zoneLockdown", "uaBlock", "bic", "hot", "securityLevel", "rateLimit", "waf"]);

export const FirewallRule = Type.Object({
  id: Id,
  paused: Type.Boolean(),
  description: Type.Optional(Description),
  action: Type.Enum([...FIREWALL_ACTIONS]),
  products: Type.Optional(Type.Array(Product)),
  priority: Type.Union([Type.Integer(), Type.Null()]),
  ref: Type.Optional(Ref),
  filter: Type.Union([Filter, Type.Object({ id: Id, deleted: Type.Boolean() })]),
  created_on: Type.String({ format: "date-time" }),
  modified_on: Type.String({ format: "date-time" }),
});
export type FirewallRule = Static<typeof FirewallRule>;

/** The form in some clients' schema, instead of the action's name. */
const ActionObject = Type.Object({ mode: Type.Enum(["simulate", "ban", "challenge", "js_challenge", "managed_challenge"]) });

export const FirewallRuleWrite = Type.Object({
  id: Type.Optional(Type.String({ maxLength: 32 })),
  paused: Type.Optional(Type.Boolean()),
  description: Type.Optional(Description),
  action: Type.Optional(Type.Union([Type.Enum([...FIREWALL_ACTIONS]), ActionObject])),
  products: Type.Optional(Type.Array(Product, { maxItems: 7 })),
  priority: Type.Optional(Type.Union([Type.Integer({ minimum: 0, maximum: 2_147_483_647 }), Type.Null()])),
  ref: Type.Optional(Ref),
  filter: Type.Optional(FilterWrite),
});
export type FirewallRuleWrite = Static<typeof FirewallRuleWrite>;

export const FirewallRuleWrites = Type.Union([
  Type.Array(FirewallRuleWrite, { minItems: 1, maxItems: FIREWALL_OBJECTS_MAX }),
  FirewallRuleWrite,
]);

const TEXT = Type.Optional(Type.String({ maxLength: 8192 }));
const FLAG = Type.Optional(Type.Boolean());

export const FilterQuery = Type.Object({ id: TEXT, paused: FLAG, expression: TEXT, description: TEXT, ref: TEXT });
export type FilterQuery = Static<typeof FilterQuery>;

export const FirewallRuleQuery = Type.Object({ id: TEXT, paused: FLAG, action: TEXT, description: TEXT });
export type FirewallRuleQuery = Static<typeof FirewallRuleQuery>;

export const IdsQuery = Type.Object({
  id: Type.Union([Id, Type.Array(Id, { minItems: 1, maxItems: FIREWALL_OBJECTS_MAX })]),
});

/** Whether the rule's filter is deleted too, if no other rule uses it. */
export const DeleteFilterQuery = Type.Object({ delete_filter_if_unused: FLAG });
