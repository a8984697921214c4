import { Type, type Static, type TSchema } from "typebox";
import { DnsRecord } from "./dns-record.ts";

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** What made a version. */
export const DNS_VERSION_KINDS = [
  "create",
  "edit",
  "overwrite",
  "delete",
  "batch",
  "import",
  "scan",
  "revert",
  "restore",
  "transfer",
] as const;
export type DnsVersionKind = (typeof DNS_VERSION_KINDS)[number];

const head = {
  version: Type.Integer({ description: "The zone's serial after the write; a zone of type secondary answers with its primary's instead." }),
  kind: Type.Enum([...DNS_VERSION_KINDS]),
  created_on: Type.String({ format: "date-time" }),
  actor: Type.Object({ type: Type.Enum(["token", "user", "system"]), id: Type.String(), name: Type.String() }),
  reason: Nullable(Type.String({ description: "What the caller sent in the header <vendor>-change-reason." })),
  refers_to: Nullable(Type.Integer({ description: "The version that a revert took back, or that a restore went back to." })),
  created: Type.Integer({ description: "Records that the write created." }),
  updated: Type.Integer(),
  deleted: Type.Integer(),
};

/** One write of a zone's records. */
export const DnsVersion = Type.Object(head);
export type DnsVersion = Static<typeof DnsVersion>;

/** One record before and after; null where it did not exist. */
export const DnsVersionChange = Type.Object({
  action: Type.Enum(["create", "update", "delete"]),
  id: Type.String(),
  before: Nullable(DnsRecord),
  after: Nullable(DnsRecord),
});
export type DnsVersionChange = Static<typeof DnsVersionChange>;

/** Changes that are shown with a version; the rest is paged. */
export const VERSION_CHANGES_SHOWN_MAX = 1000;

export const DnsVersionDetail = Type.Object({
  ...head,
  changes: Type.Array(DnsVersionChange, {
    description: `The first ${VERSION_CHANGES_SHOWN_MAX} changes; a larger version's are paged by its changes.`,
  }),
});
export type DnsVersionDetail = Static<typeof DnsVersionDetail>;

export const DnsVersionDiffQuery = Type.Object({
  from: Type.Optional(Type.Integer({ description: "The version to compare; the one before `to` unless given." })),
  to: Type.Optional(Type.Integer({ description: "The version to compare it with; the newest unless given." })),
});
export type DnsVersionDiffQuery = Static<typeof DnsVersionDiffQuery>;
