import { Type, type Static } from "typebox";
import { DnsRecord, DnsRecordWrite } from "./dns-record.ts";

const Id = Type.String({ maxLength: 32 });
const ITEMS_MAX = 3500;

/**
 * Decisions about the candidates of a scan (contract.md §3). An accepted record may be changed; one without a known id is
 * created.
 */
export const DnsScanReview = Type.Object({
  accepts: Type.Optional(Type.Array(Type.Object({ ...DnsRecordWrite.properties, id: Type.Optional(Id) }), { maxItems: ITEMS_MAX })),
  rejects: Type.Optional(Type.Array(Type.Object({ id: Id }), { maxItems: ITEMS_MAX })),
});
export type DnsScanReview = Static<typeof DnsScanReview>;

/** The accepted records and the ids of the rejected ones. */
export const DnsScanReviewResult = Type.Object({ accepts: Type.Array(DnsRecord), rejects: Type.Array(Type.String()) });
export type DnsScanReviewResult = Static<typeof DnsScanReviewResult>;

export const DnsScanResult = Type.Object({ recs_added: Type.Integer(), total_records_parsed: Type.Integer() });
export type DnsScanResult = Static<typeof DnsScanResult>;
