import { DNSSEC_STATUSES } from "./dnssec-status.ts";
import { type Static, Type } from "typebox";
import { ROLLOVER_STAGES } from "./dnssec-life.ts";

const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

/** DNSSEC of a zone (dns.md, contract.md §4). All fields that describe a key are null if the zone has none. */
export const Dnssec = Type.Object({
  status: Type.Enum([...DNSSEC_STATUSES]),
  flags: Nullable(Type.Integer()),
  algorithm: Nullable(Type.String()),
  key_type: Nullable(Type.String()),
  digest_type: Nullable(Type.String()),
  digest_algorithm: Nullable(Type.String()),
  digest: Nullable(Type.String()),
  ds: Nullable(Type.String({ description: "The DS record for the parent zone, in presentation format." })),
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

const KEY_ROLES = ["active", "publish", "retired"] as const;
/** `active` signs the zone; the others are the next or the previous key of a rollover. */
export type KeyRole = (typeof KEY_ROLES)[number];

/** A key as returned by `GET /zones/{zone_id}/dnssec/zsk`; clients expect these member names. */
export const ZoneSigningKey = Type.Object({
  Name: Type.String(),
  Location: Type.Literal("database"),
  Tag: Type.Enum([...KEY_ROLES]),
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
  /** Responses never contain the private key. */
  SigningKey: Type.Object({ kek: Type.Null(), privkey: Type.Null(), pubkey: Type.String() }),
});
export type ZoneSigningKey = Static<typeof ZoneSigningKey>;

/** The state of a key rollover, and of the parent's DS records. */
export const DnssecRollover = Type.Object({
  stage: Type.Enum([...ROLLOVER_STAGES], {
    description:
      "none: no rollover. publish: the new key is published. submit: CDS and CDNSKEY records ask the parent for the new DS record. retire: the new key signs, and the old key stays published until caches have expired.",
  }),
  since: Nullable(Type.String({ format: "date-time" })),
  /** Oldest first. */
  keys: Type.Array(
    Type.Object({
      key_tag: Type.Integer(),
      role: Type.Enum([...KEY_ROLES]),
      ds: Type.String(),
      created_on: Type.String({ format: "date-time" }),
    }),
  ),
  parent: Type.Object({
    key_tags: Type.Array(Type.Integer(), { description: "Tags of the zone's keys that have a DS record at the parent." }),
    other_key_tags: Type.Array(Type.Integer(), { description: "Key tags of DS records at the parent that match none of the zone's keys." }),
    since: Nullable(Type.String({ format: "date-time" })),
    seen_on: Nullable(Type.String({ format: "date-time" })),
    failure: Nullable(Type.String({ description: "Why the last check of the parent failed." })),
  }),
});
export type DnssecRollover = Static<typeof DnssecRollover>;
