import { Type, type Static } from "typebox";

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const Timestamp = Type.String({ format: "date-time" });
const Hostname = Type.String({ maxLength: 253 });

export const ZONE_STATUSES = ["initializing", "pending", "active", "moved"] as const;
export const ZONE_TYPES = ["full", "partial", "secondary", "internal"] as const;
export type ZoneStatus = (typeof ZONE_STATUSES)[number];
export type ZoneType = (typeof ZONE_TYPES)[number];

export const ZoneStatusSchema = Type.Enum([...ZONE_STATUSES]);
export const ZoneTypeSchema = Type.Enum([...ZONE_TYPES]);

/** A zone in responses (contract.md §9; SPEC 2.9 does not list its fields). */
export const Zone = Type.Object({
  id: Type.String({ maxLength: 32 }),
  name: Hostname,
  status: ZoneStatusSchema,
  paused: Type.Boolean(),
  type: ZoneTypeSchema,
  /** Seconds until development mode ends; 0 if it is off. */
  development_mode: Type.Integer(),
  name_servers: Type.Array(Hostname),
  original_name_servers: Nullable(Type.Array(Hostname)),
  original_registrar: Nullable(Type.String()),
  original_dnshost: Nullable(Type.String()),
  modified_on: Timestamp,
  created_on: Timestamp,
  activated_on: Nullable(Timestamp),
  verification_key: Type.Optional(
    Type.String({ description: "The value of the TXT record that proves the ownership of a pending or partial zone.", maxLength: 64 }),
  ),
  vanity_name_servers: Type.Array(Hostname),
  meta: Type.Object({
    step: Type.Integer(),
    custom_certificate_quota: Type.Integer(),
    page_rule_quota: Type.Integer(),
    phishing_detected: Type.Boolean(),
    cdn_only: Type.Boolean(),
    dns_only: Type.Boolean(),
    foundation_dns: Type.Boolean(),
  }),
  owner: Type.Object({ id: Nullable(Type.String()), type: Type.String(), email: Nullable(Type.String()) }),
  account: Type.Object({ id: Type.String(), name: Type.String() }),
  tenant: Type.Object({ id: Nullable(Type.String()), name: Nullable(Type.String()) }),
  tenant_unit: Type.Object({ id: Nullable(Type.String()) }),
  permissions: Type.Array(Type.String()),
  plan: Type.Object({
    id: Type.String(),
    name: Type.String(),
    price: Type.Number(),
    currency: Type.String(),
    frequency: Type.String(),
    is_subscribed: Type.Boolean(),
    can_subscribe: Type.Boolean(),
    legacy_id: Type.String(),
    legacy_discount: Type.Boolean(),
    externally_managed: Type.Boolean(),
  }),
});
export type Zone = Static<typeof Zone>;

export const ZoneCreate = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 1000 }),
  account: Type.Optional(Type.Object({ id: Type.Optional(Type.String({ maxLength: 32 })) })),
  type: Type.Optional(ZoneTypeSchema),
});
export type ZoneCreate = Static<typeof ZoneCreate>;

export const ZoneEdit = Type.Object({
  paused: Type.Optional(Type.Boolean()),
  type: Type.Optional(ZoneTypeSchema),
  vanity_name_servers: Type.Optional(Type.Array(Hostname, { maxItems: 8 })),
  plan: Type.Optional(Type.Object({ id: Type.String({ description: "Identifier or name of a plan." }) })),
});
export type ZoneEdit = Static<typeof ZoneEdit>;
