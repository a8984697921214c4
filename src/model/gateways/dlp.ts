import { Type, type Static } from "typebox";

const Action = Type.Enum(["FLAG", "BLOCK"]);
const Profiles = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 32, description: "IDs of data loss prevention profiles." });

const Policy = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 64 }),
  enabled: Type.Boolean(),
  action: Action,
  check: Type.Array(Type.Enum(["REQUEST", "RESPONSE"]), { minItems: 1, maxItems: 2 }),
  profiles: Profiles,
});

/** Data loss prevention of a gateway: one action for requests and responses, or policies. */
export const Dlp = Type.Union([
  Type.Object({ enabled: Type.Boolean(), action: Action, profiles: Profiles }),
  Type.Object({ enabled: Type.Boolean(), policies: Type.Array(Policy, { maxItems: 32 }) }),
]);
export type Dlp = Static<typeof Dlp>;
export type DlpPolicy = Static<typeof Policy>;

/** The enabled policies; a single action counts as one policy. */
export function dlpPolicies(dlp: Dlp | null): readonly DlpPolicy[] {
  if (dlp === null || !dlp.enabled) return [];
  if (!("policies" in dlp))
    return [{ id: "default", enabled: true, action: dlp.action, check: ["REQUEST", "RESPONSE"], profiles: dlp.profiles }];
  return dlp.policies.filter(({ enabled, profiles }) => enabled && profiles.length > 0);
}

/** The profiles that its policies refer to, enabled or not. */
export const namedProfiles = (dlp: Dlp): readonly string[] =>
  "policies" in dlp ? dlp.policies.flatMap(({ profiles }) => profiles) : dlp.profiles;
