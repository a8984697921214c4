import { auditActor } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { certificateEntry } from "#snapshot/compile/certificate-entry.ts";
import { certificatesOfZone, deleteCertificate, insertCertificate } from "#store/certificates/certificates.ts";
import type { Store } from "#store/database/store.ts";
import { zoneById } from "#store/zones/zones.ts";
import type { OrderOwner } from "./owner.ts";

/** Zones whose certificates an external authority issues. */
export function createZoneOwner(deps: { readonly store: Store; readonly clock: Clock; readonly sealer: Sealer }): OrderOwner {
  const { store, clock, sealer } = deps;
  return {
    progress: async (_call, id) => (await zoneById(store.read, id)) !== undefined,
    leadsHere: async () => true,
    isProofShown: async () => false,
    localNames: async (_id, hosts) => hosts,
    deploy: async (call, id, certificate) => {
      const { result } = await store.write(async (unit) => {
        const zone = await zoneById(unit.db, id);
        if (zone === undefined) return false;
        const earlier = await certificatesOfZone(unit.db, id);
        const row = {
          id: newId(),
          zone_id: id,
          hosts: JSON.stringify(certificate.hosts),
          chain: certificate.chain,
          private_key: "",
          issuer: certificate.issuer,
          not_before: certificate.notBefore,
          not_after: certificate.notAfter,
          created_on: isoMicros(clock.nowMicros()),
        };
        const sealed = { ...row, private_key: sealer.seal(certificate.privateKey, `certificate:${row.id}`) };
        await insertCertificate(unit.db, sealed);
        unit.change({ kind: "certificate", id: row.id, value: certificateEntry(sealed) });
        for (const { id: earlierId } of earlier) {
          await deleteCertificate(unit.db, earlierId);
          unit.change({ kind: "certificate", id: earlierId, value: null });
        }
        unit.audit({
          action: "certificate.issue",
          actor: auditActor(call),
          account_id: zone.account_id,
          zone_id: id,
          resource: { type: "certificate", id: row.id },
          after: { id: row.id, hosts: certificate.hosts, issuer: certificate.issuer, not_after: certificate.notAfter },
        });
        return true;
      });
      return result;
    },
  };
}
