import { LEAF_VALIDITY_MS, type LocalCa } from "#acme/local-ca.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { issueZoneCertificate } from "#control/certificates/zone-certificate.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { certificateEntry } from "#snapshot/compile/certificate-entry.ts";
import { certificatesOfZone, deleteCertificate, dueCertificates, insertCertificate } from "#store/certificates/certificates.ts";
import type { Store } from "#store/database/store.ts";
import { zoneById } from "#store/zones/zones.ts";

export interface CertificateRenewal {
  /**
   * Replaces certificates of the local authority that end within `withinMs`, or were issued by a clock that was ahead, at
   * most `limit`; returns their number.
   */
  renewDue(call: Call, withinMs: number, limit: number): Promise<number>;
}

export function createCertificateRenewal(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly ca: LocalCa | null;
}): CertificateRenewal {
  const { store, clock, ca } = deps;
  const renew = async (call: Call, due: { readonly id: string; readonly zone_id: string }): Promise<boolean> => {
    const zone = ca && (await zoneById(store.read, due.zone_id));
    if (!zone) return false;
    const certificate = await issueZoneCertificate(deps, ca, zone);
    if (certificate === null) return false;
    return commit(deps, call, async (unit) => {
      // The zone may have been deleted, or another node may have renewed it.
      const present = await certificatesOfZone(unit.db, due.zone_id);
      if (!present.some((row) => row.id === due.id)) return false;
      await insertCertificate(unit.db, certificate);
      await deleteCertificate(unit.db, due.id);
      unit.change({ kind: "certificate", id: certificate.id, value: certificateEntry(certificate) });
      unit.change({ kind: "certificate", id: due.id, value: null });
      unit.audit({
        action: "certificate.renew",
        actor: auditActor(call),
        account_id: zone.account_id,
        zone_id: zone.id,
        resource: { type: "certificate", id: certificate.id },
        before: { id: due.id },
        after: { id: certificate.id, not_after: certificate.not_after },
      });
      return true;
    });
  };
  return {
    renewDue: async (call, withinMs, limit) => {
      const inMs = (ms: number): string => isoMicros(clock.nowMicros() + ms * 1000);
      const wanted = { issuer: "local", before: inMs(withinMs), after: inMs(LEAF_VALIDITY_MS), limit };
      let renewed = 0;
      for (const due of await dueCertificates(store.read, wanted)) if (await renew(call, due)) renewed++;
      return renewed;
    },
  };
}
