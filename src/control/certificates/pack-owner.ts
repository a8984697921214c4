import { auditActor } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { BRANDED_COMMON_NAME } from "#model/hostnames/custom-hostname.ts";
import { certificateEntry } from "#snapshot/compile/certificate-entry.ts";
import type { CertificateEntry, Op } from "#snapshot/entries.ts";
import { certificatePack, type CertificatePackRow, updateCertificatePack } from "#store/certificates/certificate-packs.ts";
import type { Store } from "#store/database/store.ts";
import { zoneById } from "#store/zones/zones.ts";
import type { OrderOwner } from "./owner.ts";

/** Ordered certificates as owners of orders. */
export function createPackOwner(deps: { readonly store: Store; readonly clock: Clock; readonly sealer: Sealer }): OrderOwner {
  const { store, clock, sealer } = deps;
  const now = (): string => isoMicros(clock.nowMicros());
  return {
    progress: async (_call, id, { status, error }) => {
      const { result } = await store.write(async ({ db }) => {
        const row = await certificatePack(db, id);
        if (row === undefined) return false;
        // A certificate that is in use stays in use while it is renewed.
        await updateCertificatePack(db, id, { status: row.chain === null ? status : "active", error, modified_on: now() });
        return true;
      });
      return result;
    },
    // Its names are in the owner's zone.
    leadsHere: async () => true,
    isProofShown: async () => false,
    localNames: async (id, hosts) => {
      const pack = await certificatePack(store.read, id);
      return pack?.branding === 1 ? [BRANDED_COMMON_NAME, ...hosts] : hosts;
    },
    deploy: async (call, id, { chain, privateKey, issuer, notBefore, notAfter }) => {
      const { result } = await store.write(async (unit) => {
        const before = await certificatePack(unit.db, id);
        const zone = before && (await zoneById(unit.db, before.zone_id));
        if (before === undefined || zone === undefined) return false;
        const private_key = sealer.seal(privateKey, `certificate:${id}`);
        const values = { chain, private_key, issuer, not_before: notBefore, not_after: notAfter, modified_on: now() };
        await updateCertificatePack(unit.db, id, { ...values, status: "active", error: "" });
        unit.change(packOp({ ...before, ...values }));
        unit.audit({
          ...{ action: "certificate_pack.issue", actor: auditActor(call), account_id: zone.account_id, zone_id: zone.id },
          resource: { type: "certificate_pack", id },
          after: { id, hosts: JSON.parse(before.hosts) as string[], issuer, not_after: notAfter },
        });
        return true;
      });
      return result;
    },
  };
}

/** Before certificates without a rank, after all that owners upload. */
export const PACK_RANK = 0;

/** The pack's certificate as planes have it: before the universal one, and after those that the owner uploaded. */
export function packOp(row: CertificatePackRow): Op {
  const { id, zone_id, hosts, chain, private_key, not_after } = row;
  const value: CertificateEntry | null =
    chain === null || private_key === null || not_after === null
      ? null
      : { ...certificateEntry({ zone_id, hosts, chain, private_key, not_after }), rank: PACK_RANK };
  return { kind: "certificate", id, value };
}
