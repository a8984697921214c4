import { X509Certificate } from "node:crypto";
import { randomUUID } from "node:crypto";
import { PACK_RANK } from "#control/certificates/pack-owner.ts";
import { issuerOf, signatureOf } from "#control/certificates/uploaded.ts";
import { putServiceCertificate } from "#control/service-certificate.ts";
import { isoMicros } from "#kernel/clock.ts";
import { CERTIFICATE_PRIORITY_MAX } from "#model/certificates/custom-certificate.ts";
import type { HostnameSsl, SslSettings } from "#model/hostnames/custom-hostname.ts";
import { SERVICE_CERTIFICATE_ID } from "#snapshot/certificates.ts";
import type { CertificateEntry, CustomHostnameEntry } from "#snapshot/entries.ts";
import { putRenewal } from "#store/certificates/certificate-orders.ts";
import { insertCertificatePack } from "#store/certificates/certificate-packs.ts";
import { insertCertificate } from "#store/certificates/certificates.ts";
import { insertCustomCertificate } from "#store/certificates/custom-certificates.ts";
import {
  type CustomHostnameCertificateRow,
  type CustomHostnameRow,
  insertCustomHostname,
  insertHostnameCertificate,
} from "#store/hostnames/custom-hostnames.ts";
import { putFallbackOrigin } from "#store/hostnames/fallback-origins.ts";
import type { Unit } from "#store/database/store.ts";
import { each, inUnits, type Recover, type RecoveryDeps, timeOf } from "./recovery.ts";

/** Custom hostnames with their certificates. */
export const recoverHostnames: Recover = async (deps) => {
  const certificates = hostnameCertificates(deps);
  await inUnits(deps, deps.snapshot.entries("custom_hostname"), async (unit, [id, entry]) => {
    const own = certificates.get(keyOf(entry.zone_id, entry.hostname)) ?? [];
    await recoverHostname(deps, unit, id, entry, own);
  });
};

/** Certificates of zones, issued and uploaded. */
export const recoverCertificates: Recover = async (deps) => {
  const ofHostnames = new Set([...hostnameCertificates(deps).values()].flat().map(({ id }) => id));
  await each("certificate", async ({ db }, id, entry) => {
    if (id === SERVICE_CERTIFICATE_ID) await putServiceCertificate(db, entry, timeOf(deps));
    else if (entry.rank === PACK_RANK) await recoverPack(deps, db, id, entry);
    else if (entry.rank !== undefined) await insertCustomCertificate(db, customRow(deps, id, entry, entry.rank));
    else if (!ofHostnames.has(id)) await insertCertificate(db, zoneRow(deps, id, entry));
  })(deps);
};

/** How it was validated is not in the copy; by TXT record every name can be. */
async function recoverPack(deps: RecoveryDeps, db: Unit["db"], id: string, entry: CertificateEntry): Promise<void> {
  const leaf = new X509Certificate(entry.chain);
  const now = timeOf(deps);
  const order = { zone_id: entry.zone_id, hosts: JSON.stringify(entry.hosts), method: "txt", requested: "" } as const;
  await insertCertificatePack(db, {
    ...{ id, ...shared(leaf, entry), ...order, validity_days: 90, branding: 0, status: "active", error: "" },
    ...{ issuer: "", created_on: now, modified_on: now },
  });
  const renewMs = Date.parse(entry.not_after) - RENEW_BEFORE_MS;
  const times = { renewal_id: null, renew_ms: renewMs, advice_ms: renewMs, latest_ms: null };
  await putRenewal(db, { owner_kind: "certificate_pack", owner_id: id, ...order, authority: "", ...times });
}

export const recoverFallbackOrigins = each("fallback_origin", async ({ db }, zone_id, { origin }, deps) => {
  const now = timeOf(deps);
  await putFallbackOrigin(db, { zone_id, origin, created_at: now, updated_at: now });
});

interface OwnCertificate {
  readonly id: string;
  readonly entry: CertificateEntry;
}

const keyOf = (zoneId: string, hostname: string): string => `${zoneId} ${hostname}`;

/** By zone and hostname. */
function hostnameCertificates({ snapshot }: RecoveryDeps): ReadonlyMap<string, readonly OwnCertificate[]> {
  const found = new Map<string, OwnCertificate[]>();
  for (const [, { zone_id, hostname }] of snapshot.entries("custom_hostname")) found.set(keyOf(zone_id, hostname), []);
  for (const [id, entry] of snapshot.entries("certificate"))
    if (entry.rank === undefined) found.get(keyOf(entry.zone_id, entry.hosts[0] ?? ""))?.push({ id, entry });
  return found;
}

const DAY_MS = 86_400_000;
const RENEW_BEFORE_MS = 30 * DAY_MS;

async function recoverHostname(
  deps: RecoveryDeps,
  unit: Unit,
  id: string,
  entry: CustomHostnameEntry,
  own: readonly OwnCertificate[],
): Promise<void> {
  const { zone_id } = entry;
  const rows = own.map((certificate) => certificateRow(deps, id, certificate));
  await insertCustomHostname(unit.db, hostnameRow(deps, id, entry, rows));
  for (const row of rows) await insertHostnameCertificate(unit.db, row);
  const [first] = rows;
  if (first === undefined) return;
  // The owner of a certificate is not in the copy: certificates that the server orders later replace those that nobody renews.
  const renewMs = Date.parse(first.not_after) - RENEW_BEFORE_MS;
  await putRenewal(unit.db, {
    ...{ owner_kind: "custom_hostname", owner_id: id, zone_id, hosts: first.hosts, method: entry.wildcard ? "txt" : "http" },
    ...{ requested: "", authority: "", renewal_id: null, renew_ms: renewMs, advice_ms: renewMs, latest_ms: null },
  });
}

function hostnameRow(
  deps: RecoveryDeps,
  id: string,
  entry: CustomHostnameEntry,
  certificates: readonly CustomHostnameCertificateRow[],
): CustomHostnameRow {
  const now = timeOf(deps);
  const nowMs = deps.clock.nowMs();
  const ssl = certificates.length > 0 || entry.tls !== undefined ? sslOf(entry, certificates) : null;
  const hasCertificate = certificates.length > 0;
  return {
    ...{ id, zone_id: entry.zone_id, hostname: entry.hostname, wildcard: entry.wildcard ? 1 : 0, ownership_token: entry.token },
    status: entry.active ? "active" : "pending",
    ...{ status_since_ms: nowMs, checks: 0, next_check_ms: nowMs, home_zone_id: null, home_serial: null, verification_errors: "[]" },
    custom_metadata: entry.metadata === undefined ? null : JSON.stringify(entry.metadata),
    custom_origin_server: entry.origin ?? null,
    custom_origin_sni: entry.sni ?? null,
    ssl_status: ssl === null ? null : hasCertificate ? "active" : "initializing",
    ssl_method: ssl === null ? null : entry.wildcard ? "txt" : "http",
    ...{ certificate_authority: "", branding: 0, caa_error: 0, ssl_due_ms: null, ssl_tries: 0 },
    ssl: ssl && JSON.stringify(ssl),
    created_at: now,
    modified_on: now,
  };
}

function sslOf({ tls = {} }: CustomHostnameEntry, certificates: readonly CustomHostnameCertificateRow[]): HostnameSsl {
  const onOff = (isOn: boolean): "on" | "off" => (isOn ? "on" : "off");
  const settings: SslSettings = {
    ...(tls.min_tls_version === undefined ? {} : { min_tls_version: tls.min_tls_version }),
    ...(tls.tls_1_3 === undefined ? {} : { tls_1_3: onOff(tls.tls_1_3) }),
    ...(tls.http2 === undefined ? {} : { http2: onOff(tls.http2) }),
  };
  const newest = certificates.at(-1);
  return {
    ...{ id: randomUUID(), type: "dv", bundle_method: "ubiquitous", settings },
    ...(newest === undefined
      ? {}
      : {
          hosts: JSON.parse(newest.hosts) as string[],
          ...{ issuer: newest.issuer, serial_number: newest.serial_number, signature: newest.signature },
          ...{ uploaded_on: newest.created_on, expires_on: newest.not_after },
          certificates: certificates.map(({ id, issuer, serial_number, signature, not_before, not_after }) => ({
            ...{ id, issuer, serial_number, signature },
            ...{ issued_on: not_before, expires_on: not_after },
          })),
        }),
  };
}

/** The columns that every certificate has, issued or uploaded. */
function shared(leaf: X509Certificate, { zone_id, chain, private_key, not_after }: CertificateEntry) {
  return { zone_id, chain, private_key, not_after, not_before: isoMicros(leaf.validFromDate.getTime() * 1000) };
}

function certificateRow(deps: RecoveryDeps, hostnameId: string, { id, entry }: OwnCertificate): CustomHostnameCertificateRow {
  const leaf = new X509Certificate(entry.chain);
  return {
    ...{ id, custom_hostname_id: hostnameId, ...shared(leaf, entry), hosts: JSON.stringify(entry.hosts), is_custom: 0 },
    ...{ issuer: issuerOf(leaf), signature: signatureOf(leaf), serial_number: leaf.serialNumber.toLowerCase() },
    created_on: timeOf(deps),
  };
}

/** If the operator uses another authority than the local one, a zone without its certificate gets one soon. */
const zoneRow = (deps: RecoveryDeps, id: string, entry: CertificateEntry) => ({
  ...{ id, ...shared(new X509Certificate(entry.chain), entry), hosts: JSON.stringify(entry.hosts) },
  ...{ issuer: "local", created_on: timeOf(deps) },
});

function customRow(deps: RecoveryDeps, id: string, entry: CertificateEntry, rank: number) {
  const leaf = new X509Certificate(entry.chain);
  const now = timeOf(deps);
  const names = (leaf.subjectAltName ?? "").split(", ").flatMap((name) => (name.startsWith("DNS:") ? [name.slice(4).toLowerCase()] : []));
  return {
    ...{ id, ...shared(leaf, entry), hosts: JSON.stringify(names), served_hosts: JSON.stringify(entry.hosts) },
    type: rank >= 2 * (CERTIFICATE_PRIORITY_MAX + 1) ? "legacy_custom" : "sni_custom",
    priority: rank % (CERTIFICATE_PRIORITY_MAX + 1),
    ...{ bundle_method: "ubiquitous", issuer: issuerOf(leaf), signature: signatureOf(leaf) },
    fingerprint: leaf.fingerprint256.replaceAll(":", "").toLowerCase(),
    ...{ uploaded_on: now, modified_on: now },
  };
}
