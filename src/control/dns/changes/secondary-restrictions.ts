import { PlatformError } from "#kernel/errors/errors.ts";
import type { ChangeStep } from "./change-steps.ts";
import { hasOverrides } from "#model/dns/transferred-apex.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";

/** The columns of a zone that determine the source of its records. */
export interface RecordSource {
  readonly type: string;
  readonly settings: string;
}

/**
 * The steps that a caller may take in the zone. In a secondary zone only the primary writes records; with
 * `secondary_overrides` (SPEC 2.5), callers may proxy records and have a CNAME at the apex. Throws
 * `secondary_zone_read_only`.
 */
export function permittedSteps(zone: RecordSource & { readonly name: string }, steps: readonly ChangeStep[]): readonly ChangeStep[] {
  if (zone.type !== "secondary") return steps;
  const overrides = hasOverrides(zone);
  if (!overrides) throw refusal("Records of this zone come from its primary. Turn on its setting secondary_overrides to proxy them.");
  return steps.map((step) => {
    const { remove, place, error } = step;
    if (error) return step;
    if ([remove, place].every((row) => row === null || isApexAlias(row, zone.name))) return step;
    if (!remove || !place || COPIED.some((column) => remove[column] !== place[column]))
      throw refusal(
        "Records of this zone come from its primary: you can change only whether they are proxied, their settings and their notes.",
      );
    // A proxied record displays "automatic", but the row keeps the primary's TTL for later.
    return { ...step, place: { ...place, ttl: remove.ttl } };
  });
}

/** Fields of a record that come from the primary. */
const COPIED = ["name", "type", "rdata"] as const;

/** A CNAME at the apex, which no primary can have beside SOA and NS (RFC 1034 §3.6.2). */
const isApexAlias = (row: DnsRecordRow, zoneName: string): boolean => row.type === "CNAME" && row.name === zoneName;

const refusal = (message: string): PlatformError => new PlatformError("secondary_zone_read_only", { message });
