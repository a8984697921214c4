import { documented } from "#model/documented.ts";
import { type Static, Type } from "typebox";

/** Page rules, limited to the previous WAF: whether it inspects requests below an address. */
export const PAGE_RULES_MAX = 50;

export const PAGE_RULE_ACTIONS = ["disable_security", "waf"] as const;

const Target = Type.Object({
  target: Type.Enum(["url"]),
  constraint: Type.Object({ operator: Type.Enum(["matches"]), value: Type.String({ minLength: 1, maxLength: 1024 }) }),
});

const Value = Type.Union([Type.String(), Type.Integer(), Type.Boolean(), Type.Object({})]);
/** The rule's own check decides on ids, because it names the replacement of unsupported ones. */
const Action = Type.Object({ id: Type.String({ maxLength: 64 }), value: Type.Optional(documented(Value)) });

const fields = {
  targets: Type.Array(Target, { minItems: 1, maxItems: 1 }),
  actions: Type.Array(Action, { minItems: 1, maxItems: 20 }),
  priority: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  status: Type.Enum(["active", "disabled"]),
};

export const PageRuleWrite = Type.Object({
  ...fields,
  priority: Type.Optional(fields.priority),
  status: Type.Optional(fields.status),
});
export type PageRuleWrite = Static<typeof PageRuleWrite>;

export const PageRuleEdit = Type.Partial(Type.Object(fields));
export type PageRuleEdit = Static<typeof PageRuleEdit>;

export const PageRule = Type.Object({
  id: Type.String({ minLength: 32, maxLength: 32 }),
  ...fields,
  created_on: Type.String({ format: "date-time" }),
  modified_on: Type.String({ format: "date-time" }),
});
export type PageRule = Static<typeof PageRule>;

export const PageRuleQuery = Type.Object({
  status: Type.Optional(Type.Enum(["active", "disabled"])),
  order: Type.Optional(Type.Enum(["status", "priority"])),
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
});
export type PageRuleQuery = Static<typeof PageRuleQuery>;
