import { LEAF_VALIDITY_MS, type LocalCa } from "#acme/local-ca.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { SERVICE_CERTIFICATE_ID } from "#snapshot/certificates.ts";
import type { CertificateEntry } from "#snapshot/entries.ts";
import { putSecret, secretValue } from "#store/database/secrets.ts";
import type { Store, Unit } from "#store/database/store.ts";

/**
 * The installation's own certificate with the names of its nameservers, for DNS over TLS, and over HTTPS at the edge. The
 * local authority issues it, and it belongs to no zone.
 */
export interface ServiceCertificate {
  /** Issues it if it is missing, has other names, or ends within `withinMs`; returns whether it did. */
  ensure(call: Call, withinMs: number): Promise<boolean>;
}

const SECRET_NAME = "service-certificate";

export interface ServiceCertificateDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly ca: LocalCa | null;
  readonly nameServers: readonly string[];
}

export function createServiceCertificate({ store, clock, sealer, ca, nameServers }: ServiceCertificateDeps): ServiceCertificate {
  const hosts = nameServers.map((name) => name.toLowerCase());
  const inMs = (ms: number): string => isoMicros(clock.nowMicros() + ms * 1000);
  /** A certificate that ends later than a new one would was issued by a clock that was ahead, so it is not valid yet. */
  const isGood = (entry: CertificateEntry | null, withinMs: number): boolean =>
    entry !== null && entry.hosts.join() === hosts.join() && entry.not_after > inMs(withinMs) && entry.not_after <= inMs(LEAF_VALIDITY_MS);
  return {
    ensure: async (call, withinMs) => {
      if (ca === null || isGood(await serviceCertificateEntry(store.read), withinMs)) return false;
      const issued = await ca.issue(hosts);
      const entry: CertificateEntry = {
        zone_id: "",
        hosts,
        chain: issued.chain,
        private_key: sealer.seal(issued.privateKey, `certificate:${SERVICE_CERTIFICATE_ID}`),
        not_after: issued.notAfter,
      };
      return commit({ store }, call, async (unit) => {
        // Another node may have issued it first.
        if (isGood(await serviceCertificateEntry(unit.db), withinMs)) return false;
        await putServiceCertificate(unit.db, entry, isoMicros(clock.nowMicros()));
        unit.change({ kind: "certificate", id: SERVICE_CERTIFICATE_ID, value: entry });
        unit.audit({
          action: "service_certificate.issue",
          actor: auditActor(call),
          account_id: null,
          zone_id: null,
          resource: { type: "certificate", id: SERVICE_CERTIFICATE_ID },
          after: { hosts, not_after: entry.not_after },
        });
        return true;
      });
    },
  };
}

/** The stored entry with its sealed key; null before the first was issued. */
export async function serviceCertificateEntry(db: Unit["db"]): Promise<CertificateEntry | null> {
  const value = await secretValue(db, SECRET_NAME);
  return value === null ? null : (JSON.parse(value) as CertificateEntry);
}

export const putServiceCertificate = (db: Unit["db"], entry: CertificateEntry, createdOn: string): Promise<void> =>
  putSecret(db, { name: SECRET_NAME, value: JSON.stringify(entry), created_on: createdOn });
