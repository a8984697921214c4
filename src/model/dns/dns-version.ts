import { Type, type Static, type TSchema } from "typebox";
import { DnsRecord } from "./dns-record.ts";

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** The kind of write that made a version. */
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
  version: Type.Integer({ description: "The zone's serial after the write; a zone of type secondary uses its primary's serial instead." }),
  kind: Type.Enum([...DNS_VERSION_KINDS]),
  created_on: Type.String({ format: "date-time" }),
  actor: Type.Object({ type: Type.Enum(["token", "user", "system"]), id: Type.String(), name: Type.String() }),
  reason: Nullable(Type.String({ description: "The value of the <vendor>-change-reason header of the request." })),
  refers_to: Nullable(Type.Integer({ description: "The version that a revert undid or that a restore returned to." })),
  created: Type.Integer({ description: "Number of records that the write created." }),
  updated: Type.Integer(),
  deleted: Type.Integer(),
};

/** One write of a zone's records. */
export const DnsVersion = Type.Object(head);
export type DnsVersion = Static<typeof DnsVersion>;

/** One record before and after; null if it did not exist. */
export const DnsVersionChange = Type.Object({
  action: Type.Enum(["create", "update", "delete"]),
  id: Type.String(),
  before: Nullable(DnsRecord),
  after: Nullable(DnsRecord),
});
export type DnsVersionChange = Static<typeof DnsVersionChange>;

/** Number of changes in the response for a version; more are paged. */
export const VERSION_CHANGES_SHOWN_MAX = 1000;

export const DnsVersionDetail = Type.Object({
  ...head,
  changes: Type.Array(DnsVersionChange, {
    description: `The first ${VERSION_CHANGES_SHOWN_MAX} changes; use the version's changes endpoint to page through more.`,
  }),
});
export type DnsVersionDetail = Static<typeof DnsVersionDetail>;

export const DnsVersionDiffQuery = Type.Object({
  from: Type.Optional(Type.Integer({ description: "The version to compare from; by default the one before `to`." })),
  to: Type.Optional(Type.Integer({ description: "The version to compare with; by default the newest." })),
});
export type DnsVersionDiffQuery = Static<typeof DnsVersionDiffQuery>;
