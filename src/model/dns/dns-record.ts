import { Type, type Static, type TSchema } from "typebox";

const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Timestamp = Type.String({ format: "date-time" });

/** `ipv4_only` and `ipv6_only` limit the addresses of a proxied name; `flatten_cname` flattens one CNAME (contract.md §3). */
const Settings = Type.Object({
  ipv4_only: Type.Optional(Type.Boolean()),
  ipv6_only: Type.Optional(Type.Boolean()),
  flatten_cname: Type.Optional(Type.Boolean()),
});

/** Null means unset. */
const SettingsWrite = Type.Object({
  ipv4_only: Type.Optional(Nullable(Type.Boolean())),
  ipv6_only: Type.Optional(Nullable(Type.Boolean())),
  flatten_cname: Type.Optional(Nullable(Type.Boolean())),
});

/** A DNS record in responses (SPEC 2.2). The deprecation engine adds fields that only older API dates show. */
export const DnsRecord = Type.Object({
  id: Type.String(),
  name: Type.String({ description: "Absolute owner name in A-label form." }),
  type: Type.String(),
  content: Type.String(),
  proxiable: Type.Boolean(),
  proxied: Type.Boolean(),
  ttl: Type.Integer({ description: "Seconds; 1 means automatic, which is 300 seconds." }),
  priority: Type.Optional(Type.Integer()),
  data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  settings: Settings,
  meta: Type.Object(
    { auto_added: Type.Boolean(), managed_by_apps: Type.Boolean(), source: Type.String() },
    { description: "Also contains managed_by_<vendor>_tunnel, where <vendor> is the vendor prefix." },
  ),
  comment: Nullable(Type.String()),
  tags: Type.Array(Type.String()),
  created_on: Timestamp,
  modified_on: Timestamp,
  comment_modified_on: Type.Optional(Timestamp),
  tags_modified_on: Type.Optional(Timestamp),
});
export type DnsRecord = Static<typeof DnsRecord>;

/**
 * The fields of a write. All are optional here, because the use-case checks in the order of dns.md: a missing type is
 * reported before a missing name. Unknown keys are ignored (contract.md §3).
 */
export const DnsRecordWrite = Type.Object({
  type: Type.Optional(Type.String({ description: "Required on create and overwrite." })),
  name: Type.Optional(Type.String({ description: "Subdomain, @ for the apex, or the full name. Required on create and overwrite." })),
  content: Type.Optional(Nullable(Type.String({ description: "Required for types without data." }))),
  data: Type.Optional(Nullable(Type.Record(Type.String(), Type.Unknown()))),
  ttl: Type.Optional(Nullable(Type.Integer())),
  proxied: Type.Optional(Nullable(Type.Boolean())),
  priority: Type.Optional(Nullable(Type.Integer())),
  comment: Type.Optional(Nullable(Type.String())),
  tags: Type.Optional(Nullable(Type.Array(Type.String()))),
  settings: Type.Optional(Nullable(SettingsWrite)),
});
export type DnsRecordWrite = Static<typeof DnsRecordWrite>;

const Identified = { id: Type.String({ description: "Identifier of an existing record." }) };
const parts = <const W extends TSchema>(write: W) => Type.Optional(Nullable(Type.Array(write)));

/** Applied completely or not at all, in the order deletes, patches, puts, posts (contract.md §3). */
export const DnsRecordBatch = Type.Object({
  deletes: parts(Type.Object(Identified)),
  patches: parts(Type.Object({ ...DnsRecordWrite.properties, ...Identified })),
  puts: parts(Type.Object({ ...DnsRecordWrite.properties, ...Identified })),
  posts: parts(DnsRecordWrite),
});
export type DnsRecordBatch = Static<typeof DnsRecordBatch>;

/** Deleted records as they were and the others as they are now; each array in the order of the request. */
export const DnsRecordBatchResult = Type.Object({
  deletes: Type.Array(DnsRecord),
  patches: Type.Array(DnsRecord),
  puts: Type.Array(DnsRecord),
  posts: Type.Array(DnsRecord),
});
export type DnsRecordBatchResult = Static<typeof DnsRecordBatchResult>;

/** `record_quota` is null if there is no limit (contract.md §3). */
export const DnsRecordUsage = Type.Object({ record_quota: Nullable(Type.Integer()), record_usage: Type.Integer() });
export type DnsRecordUsage = Static<typeof DnsRecordUsage>;

const OneOrMany = Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 100 })]);

const textFilters = <const N extends string>(name: N) =>
  ({
    [name]: Type.Optional(OneOrMany),
    [`${name}.exact`]: Type.Optional(OneOrMany),
    [`${name}.contains`]: Type.Optional(OneOrMany),
    [`${name}.startswith`]: Type.Optional(OneOrMany),
    [`${name}.endswith`]: Type.Optional(OneOrMany),
  }) as {
    [K in N | `${N}.exact` | `${N}.contains` | `${N}.startswith` | `${N}.endswith`]: ReturnType<typeof Type.Optional<typeof OneOrMany>>;
  };

/** List filters (SPEC 4.2, contract.md §3). A repeated key gives several values. */
export const DnsRecordQuery = Type.Object({
  ...textFilters("name"),
  ...textFilters("content"),
  ...textFilters("comment"),
  "comment.present": Type.Optional(OneOrMany),
  "comment.absent": Type.Optional(OneOrMany),
  ...textFilters("tag"),
  "tag.present": Type.Optional(OneOrMany),
  "tag.absent": Type.Optional(OneOrMany),
  type: Type.Optional(OneOrMany),
  proxied: Type.Optional(Type.Boolean()),
  search: Type.Optional(Type.String({ maxLength: 500 })),
  match: Type.Optional(Type.Enum(["any", "all"])),
  tag_match: Type.Optional(Type.Enum(["any", "all"])),
  order: Type.Optional(Type.Enum(["type", "name", "content", "ttl", "proxied"])),
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
});
export type DnsRecordQuery = Static<typeof DnsRecordQuery>;
