import { type Static, Type } from "typebox";

export const DNSSEC_STATUSES = ["active", "pending", "disabled", "pending-disabled", "error"] as const;
export type DnssecStatus = (typeof DNSSEC_STATUSES)[number];

/** `enable` and `disable` are the owner's; the other two what a look at the parent's servers finds. */
export type DnssecEvent = "enable" | "disable" | "ds_found" | "ds_missing";

/**
 * What follows on what; a pair without a row leaves the status as it is. `pending` waits for the DS record at the
 * parent and `pending-disabled` for it to go: whoever drops the keys first makes the zone bogus to resolvers that
 * still see the DS. `error` is a DS that was there and is gone while the zone is signed.
 */
export const DNSSEC_TRANSITIONS: Readonly<Record<DnssecStatus, Partial<Record<DnssecEvent, DnssecStatus>>>> = {
  disabled: { enable: "pending" },
  pending: { disable: "disabled", ds_found: "active" },
  active: { disable: "pending-disabled", ds_missing: "error" },
  error: { disable: "pending-disabled", ds_found: "active" },
  "pending-disabled": { enable: "pending", ds_missing: "disabled" },
};

export const afterEvent = (status: DnssecStatus, event: DnssecEvent): DnssecStatus => DNSSEC_TRANSITIONS[status][event] ?? status;

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

/** DNSSEC of a zone (dns.md, contract.md §4). Without a key everything that describes one is null. */
export const Dnssec = Type.Object({
  status: Type.Enum([...DNSSEC_STATUSES]),
  flags: Nullable(Type.Integer()),
  algorithm: Nullable(Type.String()),
  key_type: Nullable(Type.String()),
  digest_type: Nullable(Type.String()),
  digest_algorithm: Nullable(Type.String()),
  digest: Nullable(Type.String()),
  ds: Nullable(Type.String({ description: "The record for the parent zone, as its master file has it." })),
  key_tag: Nullable(Type.Integer()),
  public_key: Nullable(Type.String()),
  dnssec_multi_signer: Type.Boolean(),
  dnssec_presigned: Type.Boolean(),
  dnssec_use_nsec3: Type.Boolean(),
  modified_on: Nullable(Type.String({ format: "date-time" })),
});
export type Dnssec = Static<typeof Dnssec>;

export const DnssecEdit = Type.Object({
  status: Type.Optional(Type.Enum(["active", "disabled"])),
  dnssec_multi_signer: Type.Optional(Type.Boolean()),
  dnssec_presigned: Type.Optional(Type.Boolean()),
  dnssec_use_nsec3: Type.Optional(Type.Boolean()),
});
export type DnssecEdit = Static<typeof DnssecEdit>;

/** A key as `GET /zones/{zone_id}/dnssec/zsk` shows it; its member names are the field's own. */
export const ZoneSigningKey = Type.Object({
  Name: Type.String(),
  Location: Type.Literal("database"),
  Tag: Type.Enum(["active", "publish", "retired"]),
  DNSKEY: Type.Object({
    Hdr: Type.Object({
      Name: Type.String(),
      Rrtype: Type.Integer(),
      Class: Type.Integer(),
      Ttl: Type.Integer(),
      Rdlength: Type.Integer(),
    }),
    Flags: Type.Integer(),
    Protocol: Type.Integer(),
    Algorithm: Type.Integer(),
    PublicKey: Type.String(),
  }),
  /** The private key never leaves the database. */
  SigningKey: Type.Object({ kek: Type.Null(), privkey: Type.Null(), pubkey: Type.String() }),
});
export type ZoneSigningKey = Static<typeof ZoneSigningKey>;
