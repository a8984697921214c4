import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { LocalCa } from "#acme/local-ca.ts";
import { zoneHosts } from "#control/certificates/zone-hosts.ts";
import { certificateEntry } from "#snapshot/compile/certificate-entry.ts";
import { type CertificateRow, insertCertificate } from "#store/certificates/certificates.ts";
import type { Unit } from "#store/database/store.ts";

/** A new zone's certificate, with a sealed private key; null for a zone without names of hosts. */
export async function issueZoneCertificate(
  deps: { readonly clock: Clock; readonly sealer: Sealer },
  ca: LocalCa,
  zone: { readonly id: string; readonly name: string },
): Promise<CertificateRow | null> {
  const id = newId();
  const hosts = zoneHosts(zone.name);
  if (hosts.length === 0) return null;
  const issued = await ca.issue(hosts);
  return {
    id,
    zone_id: zone.id,
    hosts: JSON.stringify(hosts),
    chain: issued.chain,
    private_key: deps.sealer.seal(issued.privateKey, `certificate:${id}`),
    issuer: "local",
    not_before: issued.notBefore,
    not_after: issued.notAfter,
    created_on: isoMicros(deps.clock.nowMicros()),
  };
}

/** Stores the certificate and publishes it to the planes. */
export async function addCertificate(unit: Unit, certificate: CertificateRow): Promise<void> {
  await insertCertificate(unit.db, certificate);
  unit.change({ kind: "certificate", id: certificate.id, value: certificateEntry(certificate) });
}
