import { PlatformError } from "#kernel/errors/errors.ts";
import type { ChangeStep } from "./change-steps.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import type { DnsVersionKind } from "#model/dns/dns-version.ts";
import type { Unit } from "#store/database/store.ts";
import { dnssecOfZone } from "#store/dns/zone-dnssec.ts";

/** Kinds of writes that name each record; files, transfers and history bring what stood elsewhere, or here before. */
const DELIBERATE: ReadonlySet<DnsVersionKind> = new Set(["create", "edit", "overwrite", "batch"]);

/**
 * The zone's own keys are no records: in one that is signed here, a DNSKEY at the apex is that of another provider who
 * signs it as well (RFC 8901), which `dnssec_multi_signer` says. Throws `dns_type_invalid`.
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
