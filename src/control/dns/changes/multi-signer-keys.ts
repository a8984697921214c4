import { PlatformError } from "#kernel/errors/errors.ts";
import type { ChangeStep } from "./change-steps.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import type { DnsVersionKind } from "#model/dns/dns-version.ts";
import type { Unit } from "#store/database/store.ts";
import { dnssecOfZone } from "#store/dns/zone-dnssec.ts";

/** Kinds of writes that list records individually; imports, transfers and history copy records from elsewhere or from earlier. */
const DELIBERATE: ReadonlySet<DnsVersionKind> = new Set(["create", "edit", "overwrite", "batch"]);

/**
 * A signed zone's own keys are not records: a DNSKEY record at its apex is that of another provider that also signs the
 * zone (RFC 8901), which requires `dnssec_multi_signer`. Throws `dns_type_invalid`.
 */
export async function checkForeignKeys(
  db: Unit["db"],
  zone: PlannedZoneRef,
  steps: readonly ChangeStep[],
  kind: DnsVersionKind,
): Promise<void> {
  if (!DELIBERATE.has(kind)) return;
  const step = steps.find(({ place }) => place?.type === "DNSKEY" && place.name === zone.name);
  const dnssec = step && (await dnssecOfZone(db, zone.id));
  if (!step || !dnssec || dnssec.status === "disabled" || dnssec.multi_signer === 1) return;
  throw new PlatformError("dns_type_invalid", {
    message: "DNSKEY records at the apex are keys of other providers: turn on dnssec_multi_signer in the zone's DNSSEC settings first.",
    source: kind === "batch" ? `/${step.part}/${step.index}/type` : "/type",
  });
}
