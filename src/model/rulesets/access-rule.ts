import { type Static, Type } from "typebox";

/** Access rules: the actions for visitors from an address, a range, a network or a country. */
export const ACCESS_RULES_MAX = 1000;

const Mode = Type.Enum(["block", "challenge", "whitelist", "js_challenge", "managed_challenge"]);
const Target = Type.Enum(["ip", "ip6", "ip_range", "asn", "country"]);
const Notes = Type.String({ maxLength: 1024 });
const Configuration = Type.Object({
  target: Target,
  value: Type.String({ minLength: 1, maxLength: 64, description: "An address, a range in CIDR form, AS and a number, or two letters." }),
});

export const AccessRule = Type.Object({
  id: Type.String({ maxLength: 32 }),
  notes: Notes,
  allowed_modes: Type.Array(Mode),
  mode: Mode,
  configuration: Configuration,
  scope: Type.Object({ id: Type.String(), type: Type.Enum(["organization", "zone"]) }),
  created_on: Type.String({ format: "date-time" }),
  modified_on: Type.String({ format: "date-time" }),
});
export type AccessRule = Static<typeof AccessRule>;
export const ACCESS_MODES: AccessRule["allowed_modes"] = ["block", "challenge", "whitelist", "js_challenge", "managed_challenge"];

export const AccessRuleWrite = Type.Object({ mode: Mode, configuration: Configuration, notes: Type.Optional(Notes) });
export type AccessRuleWrite = Static<typeof AccessRuleWrite>;
/** `configuration` may be sent back, and must be the same. */
export const AccessRuleEdit = Type.Partial(AccessRuleWrite);
export type AccessRuleEdit = Static<typeof AccessRuleEdit>;

export const AccessRuleQuery = Type.Object({
  mode: Type.Optional(Mode),
  "configuration.target": Type.Optional(Target),
  "configuration.value": Type.Optional(Type.String({ maxLength: 64 })),
  notes: Type.Optional(Notes),
  match: Type.Optional(Type.Enum(["any", "all"])),
  order: Type.Optional(Type.Enum(["configuration.target", "configuration.value", "mode"])),
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
});
export type AccessRuleQuery = Static<typeof AccessRuleQuery>;
