import type { Page, PageRequest } from "#control/call.ts";
import { certificateFacts } from "#acme/certificate-facts.ts";
import type { Clock } from "#kernel/clock.ts";
import {
  CERTIFICATE_PACKS_MAX,
  type CertificatePack,
  type CertificatePackQuota,
  type CertificateVerification,
} from "#model/certificates/certificate-pack.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { CustomCertificate, CustomCertificateType } from "#model/certificates/custom-certificate.ts";
import type { SslStatus } from "#model/hostnames/custom-hostname-states.ts";
import { type CertificateOrderRow, orderFromRow } from "#store/certificates/certificate-orders.ts";
import { type CertificateRow, certificatesOfZone } from "#store/certificates/certificates.ts";
import { type CustomCertificateRow, customCertificatesOfZone } from "#store/certificates/custom-certificates.ts";
import { type CertificatePackRow, certificatePacksOfZone } from "#store/certificates/certificate-packs.ts";
import type { Store } from "#store/database/store.ts";
import { placementOf, validationRecords } from "./placement.ts";

/** A zone's certificates, as the API returns them. */
export interface CertificatePacks {
  /** Certificates in use; with `all` also the one on order. */
  list(zoneId: string, all: boolean, page: PageRequest): Promise<Page<CertificatePack>>;
  /** Throws `certificate_not_found`. */
  get(zoneId: string, id: string): Promise<CertificatePack>;
  verification(zoneId: string): Promise<readonly CertificateVerification[]>;
  quota(zoneId: string): Promise<CertificatePackQuota>;
}

const DAY_MS = 86_400_000;
/** Assumed validity of an order that is not placed yet, as most authorities issue. */
const VALIDITY_DAYS = 90;

export function createCertificatePacks({ store, clock }: { readonly store: Store; readonly clock: Clock }): CertificatePacks {
  /** Certificates that authorities have issued or are asked to issue for the zone. */
  const issued = async (zoneId: string, all: boolean): Promise<readonly CertificatePack[]> => {
    const packs = await Promise.all((await certificatesOfZone(store.read, zoneId)).map((row) => inUse(row, clock.nowMs())));
    const order = all ? await orderFromRow(store.read, { owner_kind: "zone", owner_id: zoneId }) : undefined;
    const ordered: CertificatePack[] = [];
    for (const row of await certificatePacksOfZone(store.read, zoneId))
      if (all || row.chain !== null)
        ordered.push(
          await orderedPack(row, await orderFromRow(store.read, { owner_kind: "certificate_pack", owner_id: row.id }), clock.nowMs()),
        );
    return [...packs, ...(order === undefined ? [] : [onOrder(order)]), ...ordered];
  };
  const packsOf = async (zoneId: string, all: boolean): Promise<readonly CertificatePack[]> => [
    ...(await issued(zoneId, all)),
    ...(await customCertificatesOfZone(store.read, zoneId)).map((row) => ownersOwn(row, clock.nowMs())),
  ];
  return {
    list: async (zoneId, all, { page, per_page }) => {
      const packs = await packsOf(zoneId, all);
      return { items: packs.slice((page - 1) * per_page, page * per_page), page, per_page, total_count: packs.length };
    },
    get: async (zoneId, id) => {
      const pack = (await packsOf(zoneId, true)).find((one) => one.id === id);
      if (pack === undefined) throw new PlatformError("certificate_not_found");
      return pack;
    },
    quota: async (zoneId) => ({
      advanced: { allocated: CERTIFICATE_PACKS_MAX, used: (await certificatePacksOfZone(store.read, zoneId)).length },
    }),
    verification: async (zoneId) => (await issued(zoneId, true)).map(verificationOf),
  };
}

const statusOf = (row: { readonly not_after: string }, nowMs: number): SslStatus =>
  Date.parse(row.not_after) <= nowMs ? "expired" : "active";
const validityDays = (row: { readonly not_before: string; readonly not_after: string }): number =>
  Math.round((Date.parse(row.not_after) - Date.parse(row.not_before)) / DAY_MS);

async function inUse(row: CertificateRow, nowMs: number): Promise<CertificatePack> {
  const { signature, issuer } = await certificateFacts(row.chain);
  const hosts = JSON.parse(row.hosts) as string[];
  const status = statusOf(row, nowMs);
  const times = { uploaded_on: row.created_on, modified_on: row.created_on, expires_on: row.not_after };
  return {
    ...{ id: row.id, type: "universal", hosts, status, certificate_authority: row.issuer, validation_method: "txt" },
    validity_days: validityDays(row),
    primary_certificate: row.id,
    certificates: [{ ...{ id: row.id, hosts, issuer, signature, status, bundle_method: "ubiquitous", zone_id: row.zone_id }, ...times }],
  };
}

function ownersOwn(row: CustomCertificateRow, nowMs: number): CertificatePack {
  const hosts = JSON.parse(row.hosts) as string[];
  const status = statusOf(row, nowMs);
  const { id, zone_id, issuer, signature, priority, uploaded_on, modified_on, not_after: expires_on } = row;
  const bundle_method = row.bundle_method as CustomCertificate["bundle_method"];
  return {
    ...{ id, type: row.type as CustomCertificateType, hosts, status, validity_days: validityDays(row), primary_certificate: id },
    certificates: [{ id, hosts, issuer, signature, status, bundle_method, zone_id, priority, uploaded_on, modified_on, expires_on }],
  };
}

function onOrder(row: CertificateOrderRow): CertificatePack {
  const placement = placementOf(row);
  return {
    ...{ id: row.id, type: "universal", hosts: JSON.parse(row.hosts) as string[], status: row.status as SslStatus },
    ...{ certificate_authority: row.authority, validation_method: "txt", validity_days: VALIDITY_DAYS, certificates: [] },
    ...(placement === null ? {} : { validation_records: [...validationRecords(row.method, placement)] }),
    ...(row.error === "" ? {} : { validation_errors: [{ message: row.error }] }),
  };
}

async function orderedPack(row: CertificatePackRow, order: CertificateOrderRow | undefined, nowMs: number): Promise<CertificatePack> {
  const { id, zone_id, chain, not_before, not_after, created_on, modified_on } = row;
  const hosts = JSON.parse(row.hosts) as string[];
  const about = { certificate_authority: row.issuer || row.requested, validation_method: row.method } as const;
  if (chain === null || not_before === null || not_after === null) {
    const placement = order === undefined ? null : placementOf(order);
    return {
      ...{ id, type: "advanced", hosts, status: row.status as SslStatus, ...about, validity_days: row.validity_days, certificates: [] },
      ...(placement === null ? {} : { validation_records: [...validationRecords(row.method, placement)] }),
      ...(row.error === "" ? {} : { validation_errors: [{ message: row.error }] }),
    };
  }
  const { signature, issuer } = await certificateFacts(chain);
  const status = statusOf({ not_after }, nowMs);
  const times = { uploaded_on: created_on, modified_on, expires_on: not_after };
  return {
    ...{ id, type: "advanced", hosts, status, ...about, validity_days: validityDays({ not_before, not_after }), primary_certificate: id },
    certificates: [{ id, hosts, issuer, signature, status, bundle_method: "ubiquitous", zone_id, ...times }],
    ...(row.error === "" ? {} : { validation_errors: [{ message: row.error }] }),
  };
}

const VERIFICATION_STATUS: Readonly<Partial<Record<SslStatus, CertificateVerification["certificate_status"]>>> = {
  initializing: "initializing",
  pending_validation: "authorizing",
  pending_issuance: "issuing",
  pending_deployment: "pending_deployment",
  active: "active",
  expired: "expired",
};

function verificationOf(pack: CertificatePack): CertificateVerification {
  const [record] = pack.validation_records ?? [];
  const signature = pack.certificates[0]?.signature;
  return {
    cert_pack_uuid: pack.id,
    certificate_status: VERIFICATION_STATUS[pack.status] ?? "timing_out",
    ...(signature === undefined ? {} : { signature }),
    validation_method: pack.validation_method ?? "txt",
    verification_status: pack.certificates.length > 0,
    ...(record?.txt_name === undefined || record.txt_value === undefined
      ? {}
      : { verification_info: { record_name: record.txt_name, record_target: record.txt_value } }),
  };
}
