import type { Call, Page, PageRequest } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { ZoneRef } from "#control/open-zone/zone-ref.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { isWithin } from "#kernel/net/hostname.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import {
  CUSTOM_CERTIFICATES_MAX,
  type CustomCertificate,
  type CustomCertificateCreate,
  type CustomCertificateEdit,
  type CustomCertificatePriorities,
  type CustomCertificateQuery,
} from "#model/certificates/custom-certificate.ts";
import { customCertificateEntry } from "#snapshot/compile/certificate-entry.ts";
import {
  customCertificate,
  type CustomCertificateRow,
  customCertificatesOfZone,
  deleteCustomCertificate,
  insertCustomCertificate,
  updateCustomCertificate,
} from "#store/certificates/custom-certificates.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { lockZone } from "#store/zones/zones.ts";
import { issuerOf, readUploaded, signatureOf, type UploadErrors } from "./uploaded.ts";

/** Uploaded certificates of a zone; the edge prefers them to those that authorities issue. */
export interface CustomCertificates {
  list(zone: ZoneRef, query: CustomCertificateQuery, page: PageRequest): Promise<Page<CustomCertificate>>;
  /** Throws `certificate_not_found`. */
  get(zone: ZoneRef, id: string): Promise<CustomCertificate>;
  /** Throws errors 1002, 1212, 1220, 2100 to 2106 and 2200 if the certificate cannot be used for the zone. */
  create(call: Call, zone: ZoneRef, body: CustomCertificateCreate): Promise<CustomCertificate>;
  /** A certificate of type sni_custom gets another id with a new certificate or key. */
  edit(call: Call, zone: ZoneRef, id: string, body: CustomCertificateEdit): Promise<CustomCertificate>;
  remove(call: Call, zone: ZoneRef, id: string): Promise<{ id: string }>;
  /** Changes all or none. */
  prioritize(call: Call, zone: ZoneRef, body: CustomCertificatePriorities): Promise<readonly CustomCertificate[]>;
}

const ERRORS: UploadErrors = {
  fields: { certificate: "/certificate", key: "/private_key" },
  names: {
    empty: "certificate_unreadable",
    unreadable: "certificate_unreadable",
    keyEmpty: "certificate_key_unreadable",
    keyUnreadable: "certificate_key_unreadable",
    keyMismatch: "certificate_key_mismatch",
    weak: "certificate_weak",
    expired: "certificate_expired",
    otherNames: "certificate_other_names",
    broken: "certificate_chain_broken",
    tooLong: "certificate_unreadable",
  },
};

interface CustomCertificatesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
}

export function createCustomCertificates(deps: CustomCertificatesDeps): CustomCertificates {
  const { store, clock, sealer } = deps;
  const now = (): string => isoMicros(clock.nowMicros());
  const view = (row: CustomCertificateRow): CustomCertificate => ({
    ...{ id: row.id, zone_id: row.zone_id, hosts: JSON.parse(row.hosts) as string[], issuer: row.issuer, signature: row.signature },
    status: Date.parse(row.not_after) <= clock.nowMs() ? "expired" : "active",
    bundle_method: row.bundle_method as CustomCertificate["bundle_method"],
    priority: row.priority,
    ...{ uploaded_on: row.uploaded_on, modified_on: row.modified_on, expires_on: row.not_after },
  });

  /** The columns derived from a certificate and its key. */
  const read = (zone: ZoneRef, id: string, given: { certificate: unknown; key: unknown }) => {
    const own = (names: readonly string[]): string[] => names.filter((name) => isWithin(name.replace(/^\*\./, ""), zone.name));
    const covers = (names: readonly string[]): boolean => own(names).length > 0;
    const { leaf, chain, privateKey, names } = readUploaded(given, { nowMs: clock.nowMs(), errors: ERRORS, covers });
    return {
      hosts: JSON.stringify(names),
      // Names outside the zone are not served, since their owner is unknown.
      served_hosts: JSON.stringify(own(names)),
      chain,
      private_key: sealer.seal(privateKey, `certificate:${id}`),
      fingerprint: leaf.fingerprint256.replaceAll(":", "").toLowerCase(),
      issuer: issuerOf(leaf),
      signature: signatureOf(leaf),
      not_before: isoMicros(leaf.validFromDate.getTime() * 1000),
      not_after: isoMicros(leaf.validToDate.getTime() * 1000),
    };
  };
  /** Locks the zone and returns its other certificates. */
  const lockedOthers = async (unit: Unit, zone: ZoneRef, id: string, fingerprint: string): Promise<readonly CustomCertificateRow[]> => {
    await lockZone(unit.db, zone.id);
    const others = (await customCertificatesOfZone(unit.db, zone.id)).filter((row) => row.id !== id);
    if (others.some((row) => row.fingerprint === fingerprint)) throw new PlatformError("certificate_duplicate", { source: "/certificate" });
    return others;
  };
  const audit = (
    unit: Unit,
    call: Call,
    zone: ZoneRef,
    verb: string,
    before: CustomCertificateRow | null,
    after: CustomCertificateRow | null,
  ) =>
    unit.audit({
      action: `custom_certificate.${verb}`,
      actor: auditActor(call),
      account_id: zone.account_id,
      zone_id: zone.id,
      resource: { type: "custom_certificate", id: (after ?? before)?.id ?? "" },
      before: before && view(before),
      after: after && view(after),
    });
  const publish = (unit: Unit, row: CustomCertificateRow): void =>
    unit.change({ kind: "certificate", id: row.id, value: customCertificateEntry(row) });
  const retract = (unit: Unit, id: string): void => unit.change({ kind: "certificate", id, value: null });

  return {
    list: async (zone, query, { page, per_page }) => {
      const all = (await customCertificatesOfZone(store.read, zone.id)).map(view);
      const found = all.filter(({ status }) => query.status === undefined || status === query.status);
      return { items: found.slice((page - 1) * per_page, page * per_page), page, per_page, total_count: found.length };
    },
    get: async (zone, id) => view(await load(store.read, zone, id)),

    create: (call, zone, body) => {
      checkAvailable(body);
      const id = newId();
      const columns = read(zone, id, { certificate: body.certificate, key: body.private_key });
      return commit(deps, call, async (unit) => {
        const others = await lockedOthers(unit, zone, id, columns.fingerprint);
        if (others.length >= CUSTOM_CERTIFICATES_MAX) throw new PlatformError("certificates_full");
        const { type = "legacy_custom", bundle_method = "ubiquitous" } = body;
        const row = { ...columns, id, zone_id: zone.id, type, bundle_method, priority: 0, uploaded_on: now(), modified_on: now() };
        await insertCustomCertificate(unit.db, row);
        publish(unit, row);
        audit(unit, call, zone, "create", null, row);
        return view(row);
      });
    },

    edit: (call, zone, id, body) => {
      checkAvailable(body);
      return commit(deps, call, async (unit) => {
        await lockZone(unit.db, zone.id);
        const before = await load(unit.db, zone, id);
        const kept = { ...before, bundle_method: body.bundle_method ?? before.bundle_method, modified_on: now() };
        if (body.certificate === undefined && body.private_key === undefined) {
          await updateCustomCertificate(unit.db, kept);
          publish(unit, kept);
          audit(unit, call, zone, "update", before, kept);
          return view(kept);
        }
        const nextId = before.type === "sni_custom" ? newId() : id;
        const key = body.private_key ?? sealer.open(before.private_key, `certificate:${id}`).toString();
        const columns = read(zone, nextId, { certificate: body.certificate ?? before.chain, key });
        await lockedOthers(unit, zone, id, columns.fingerprint);
        const row = { ...kept, ...columns, id: nextId, uploaded_on: now() };
        if (nextId === id) await updateCustomCertificate(unit.db, row);
        else {
          await insertCustomCertificate(unit.db, row);
          await deleteCustomCertificate(unit.db, id);
          retract(unit, id);
        }
        publish(unit, row);
        audit(unit, call, zone, "update", before, row);
        return view(row);
      });
    },

    remove: (call, zone, id) =>
      commit(deps, call, async (unit) => {
        const before = await load(unit.db, zone, id);
        await deleteCustomCertificate(unit.db, id);
        retract(unit, id);
        audit(unit, call, zone, "delete", before, null);
        return { id };
      }),

    prioritize: (call, zone, { certificates }) =>
      commit(deps, call, async (unit) => {
        await lockZone(unit.db, zone.id);
        for (const { id, priority = 0 } of certificates) {
          const before = await load(unit.db, zone, id);
          if (before.priority === priority) continue;
          const row = { ...before, priority, modified_on: now() };
          await updateCustomCertificate(unit.db, row);
          publish(unit, row);
          audit(unit, call, zone, "update", before, row);
        }
        return (await customCertificatesOfZone(unit.db, zone.id)).map(view);
      }),
  };
}

async function load(db: Unit["db"], zone: ZoneRef, id: string): Promise<CustomCertificateRow> {
  const row = await customCertificate(db, zone.id, id);
  if (row === undefined) throw new PlatformError("certificate_not_found");
  return row;
}

/** Refuses values that would select unsupported features; published clients send empty values, which are accepted. */
function checkAvailable(body: CustomCertificateEdit): void {
  if (body.custom_csr_id) throw new PlatformError("hostname_csr_invalid", { source: "/custom_csr_id" });
  const chosen = (
    [
      ["/geo_restrictions/label", body.geo_restrictions?.label],
      ["/policy", body.policy],
      ["/policy_restrictions", body.policy_restrictions],
    ] as const
  ).find(([, value]) => value);
  if (chosen)
    throw new PlatformError("setting_unavailable", { message: "Key location restrictions are not supported.", source: chosen[0] });
  if (body.deploy === "staging")
    throw new PlatformError("setting_unavailable", {
      message: "Staging is not supported; uploads are deployed at once.",
      source: "/deploy",
    });
}
