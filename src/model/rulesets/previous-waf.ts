import { type Static, Type } from "typebox";

/** Packages, groups, rules and overrides of the WAF before rulesets (waf.md, "Previous WAF"; SPEC 9, 2025-06-15). */
const Id = Type.String({ minLength: 32, maxLength: 32 });
const OnOff = Type.Enum(["on", "off"]);

const SENSITIVITIES = ["high", "medium", "low", "off"] as const;

export const WafPackageView = Type.Object({
  id: Id,
  name: Type.String(),
  description: Type.String(),
  detection_mode: Type.Enum(["anomaly", "traditional"]),
  zone_id: Id,
  status: Type.Enum(["active"]),
  sensitivity: Type.Optional(Type.Enum([...SENSITIVITIES])),
  action_mode: Type.Optional(Type.Enum(["simulate", "block", "challenge"])),
});
export type WafPackageView = Static<typeof WafPackageView>;

/** Settings of a package with detection mode `anomaly`; absent if never set. */
export const WafPackageEdit = Type.Object({
  sensitivity: Type.Optional(Type.Enum([...SENSITIVITIES])),
  action_mode: Type.Optional(Type.Enum(["simulate", "block", "challenge"])),
});
export type WafPackageEdit = Static<typeof WafPackageEdit>;

export const WafGroupView = Type.Object({
  id: Id,
  name: Type.String(),
  description: Type.String(),
  mode: OnOff,
  allowed_modes: Type.Array(OnOff),
  rules_count: Type.Integer(),
  modified_rules_count: Type.Integer(),
  package_id: Id,
});
export type WafGroupView = Static<typeof WafGroupView>;

export const WafGroupEdit = Type.Object({ mode: OnOff });

export const RULE_MODES = ["default", "disable", "simulate", "block", "challenge"] as const;
export type RuleMode = (typeof RULE_MODES)[number] | "on" | "off";

const Mode = Type.Enum([...RULE_MODES, "on", "off"]);

export const WafRuleView = Type.Object({
  id: Id,
  description: Type.String(),
  priority: Type.String(),
  package_id: Id,
  group: Type.Object({ id: Id, name: Type.String() }),
  mode: Mode,
  default_mode: Type.Optional(Type.Enum(["block", "disable"])),
  allowed_modes: Type.Array(Mode),
});
export type WafRuleView = Static<typeof WafRuleView>;

export const WafRuleEdit = Type.Object({ mode: Mode });

const TEXT = Type.Optional(Type.String({ maxLength: 256 }));

export const WafGroupQuery = Type.Object({ mode: Type.Optional(OnOff), name: TEXT });
/** Filters by possible modes: DIS, CHL, BLK and SIM. */
export const WafRuleQuery = Type.Object({
  mode: Type.Optional(Type.Enum(["DIS", "CHL", "BLK", "SIM"])),
  group_id: TEXT,
  description: TEXT,
});
export const WafPackageQuery = Type.Object({ name: TEXT });

/** Enough for any site, and few enough that all fit into one ruleset. */
export const OVERRIDES_MAX = 50;
const OVERRIDE_URLS_MAX = 10;

const Action = Type.Enum(["challenge", "block", "simulate", "disable", "default"]);

const overrideFields = {
  urls: Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { minItems: 1, maxItems: OVERRIDE_URLS_MAX }),
  description: Type.Union([Type.String({ maxLength: 1024 }), Type.Null()]),
  paused: Type.Boolean(),
  priority: Type.Integer({ minimum: -1_000_000_000, maximum: 1_000_000_000 }),
  groups: Type.Record(Type.String(), Action, { maxProperties: 100 }),
  rules: Type.Record(Type.String(), Action, { maxProperties: 1000 }),
  rewrite_action: Type.Partial(Type.Object({ challenge: Action, block: Action, simulate: Action, disable: Action, default: Action })),
};

export const WafOverrideWrite = Type.Object({
  ...Type.Partial(Type.Object(overrideFields)).properties,
  urls: overrideFields.urls,
});
export type WafOverrideWrite = Static<typeof WafOverrideWrite>;

export const WafOverride = Type.Object({ id: Id, ...overrideFields });
export type WafOverride = Static<typeof WafOverride>;
export type OverrideAction = WafOverride["rules"][string];
