import { X509Certificate } from "node:crypto";
import type { Call } from "#control/call.ts";
import { signatureOf } from "#control/certificates/uploaded.ts";
import { auditActor, commit } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { HostnameSsl } from "#model/hostnames/custom-hostname.ts";
import { sslMayBecome, type SslStatus } from "#model/hostnames/custom-hostname-states.ts";
import { certificateEntry } from "#snapshot/compile/certificate-entry.ts";
import {
  customHostname,
  type CustomHostnameCertificateRow,
  type CustomHostnameRow,
  deleteHostnameCertificate,
  hostnameCertificates,
  insertHostnameCertificate,
  updateCustomHostname,
} from "#store/hostnames/custom-hostnames.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { lockZone, zoneRowById } from "#store/zones/zones.ts";

/** A certificate for a custom hostname, issued or uploaded. */
export interface DeployedCertificate {
  /** PEM, leaf first. */
  readonly chain: string;
  /** PKCS #8 PEM, unsealed. */
  readonly privateKey: string;
  /** Lower-case names for which the edge uses it. */
  readonly hosts: readonly string[];
  /** The displayed issuer. */
  readonly issuer: string;
  readonly isCustom?: boolean;
}

export interface SslProgress {
  readonly status: SslStatus;
  readonly validation_records?: HostnameSsl["validation_records"];
  readonly validation_errors?: HostnameSsl["validation_errors"];
  readonly dcv_delegation_records?: HostnameSsl["dcv_delegation_records"];
  /** CAA records prevent the certificate; displayed as the hostname's status until the next progress (SPEC 3.2). */
  readonly caa_error?: boolean;
  readonly ssl_due_ms?: number | null;
  readonly ssl_tries?: number;
}

/**
 * Updates the certificates of custom hostnames. Returns false if the hostname was deleted, or its status does not allow
 * the change.
 */
export interface HostnameCertificates {
  progress(call: Call, id: string, progress: SslProgress): Promise<boolean>;
  /** Publishes a certificate, which replaces one with a key of the same type. */
  deploy(call: Call, id: string, deployed: DeployedCertificate): Promise<boolean>;
}

/** A third of a certificate's lifetime. */
const RENEW_BEFORE_MS = 30 * 86_400_000;

export function createHostnameCertificates(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
}): HostnameCertificates {
  const { clock, sealer } = deps;

  /** Locks the zone, then reads the hostname; null if the change is not allowed. */
  const open = async (unit: Unit, id: string, status: SslStatus): Promise<CustomHostnameRow | null> => {
    const seen = await customHostname(unit.db, id);
    if (seen === undefined || !(await lockZone(unit.db, seen.zone_id))) return null;
    const row = await customHostname(unit.db, id);
    return row === undefined || row.ssl === null || row.ssl_status === null || !sslMayBecome(row.ssl_status as SslStatus, status)
      ? null
      : row;
  };

  return {
    progress: (call, id, { status, caa_error, ssl_due_ms, ssl_tries, ...shown }) =>
      commit(deps, call, async (unit) => {
        const row = await open(unit, id, status);
        if (row === null) return false;
        const { validation_errors: _, ...kept } = JSON.parse(row.ssl as string) as HostnameSsl;
        await updateCustomHostname(unit.db, id, {
          ssl_status: status,
          caa_error: caa_error === true ? 1 : 0,
          ssl: JSON.stringify({ ...kept, ...shown }),
          ...(ssl_due_ms === undefined ? {} : { ssl_due_ms }),
          ...(ssl_tries === undefined ? {} : { ssl_tries }),
          modified_on: isoMicros(clock.nowMicros()),
        });
        return true;
      }),

    deploy: async (call, id, deployed) => {
      const leaf = new X509Certificate(deployed.chain);
      const certificate: Omit<CustomHostnameCertificateRow, "zone_id"> = {
        id: newId(),
        custom_hostname_id: id,
        hosts: JSON.stringify(deployed.hosts),
        chain: deployed.chain,
        private_key: "",
        issuer: deployed.issuer,
        is_custom: deployed.isCustom === true ? 1 : 0,
        serial_number: leaf.serialNumber.toLowerCase(),
        signature: signatureOf(leaf),
        not_before: isoMicros(leaf.validFromDate.getTime() * 1000),
        not_after: isoMicros(leaf.validToDate.getTime() * 1000),
        created_on: isoMicros(clock.nowMicros()),
      };
      return commit(deps, call, async (unit) => {
        const row = await open(unit, id, "active");
        if (row === null) return false;
        const sealed = {
          ...certificate,
          zone_id: row.zone_id,
          private_key: sealer.seal(deployed.privateKey, `certificate:${certificate.id}`),
        };
        await replaceEarlier(unit, sealed, deployed.isCustom === true);
        await updateCustomHostname(unit.db, id, deployedColumns(row, deployed, sealed, await hostnameCertificates(unit.db, id)));
        unit.audit({
          action: "custom_hostname.certificate",
          actor: auditActor(call),
          account_id: (await zoneRowById(unit.db, row.zone_id))?.account_id ?? null,
          zone_id: row.zone_id,
          resource: { type: "custom_hostname", id },
          after: { certificate_id: sealed.id, hosts: deployed.hosts, issuer: deployed.issuer, not_after: sealed.not_after },
        });
        return true;
      });
    },
  };
}

async function replaceEarlier(unit: Unit, certificate: CustomHostnameCertificateRow, replacesAll: boolean): Promise<void> {
  const kind = keyKind(certificate.chain);
  for (const earlier of await hostnameCertificates(unit.db, certificate.custom_hostname_id)) {
    if (!replacesAll && earlier.is_custom === 0 && keyKind(earlier.chain) !== kind) continue;
    await deleteHostnameCertificate(unit.db, earlier.id);
    unit.change({ kind: "certificate", id: earlier.id, value: null });
  }
  await insertHostnameCertificate(unit.db, certificate);
  unit.change({ kind: "certificate", id: certificate.id, value: certificateEntry(certificate) });
}

function deployedColumns(
  row: CustomHostnameRow,
  deployed: DeployedCertificate,
  certificate: CustomHostnameCertificateRow,
  all: readonly CustomHostnameCertificateRow[],
) {
  const { validation_errors: _, validation_records: __, custom_certificate: ___, ...kept } = JSON.parse(row.ssl as string) as HostnameSsl;
  const ssl: HostnameSsl = {
    ...kept,
    hosts: [...deployed.hosts],
    issuer: deployed.issuer,
    serial_number: certificate.serial_number,
    signature: certificate.signature,
    uploaded_on: certificate.created_on,
    expires_on: certificate.not_after,
    certificates: all.map(({ id, issuer, serial_number, signature, not_before, not_after }) => ({
      ...{ id, issuer, serial_number, signature },
      issued_on: not_before,
      expires_on: not_after,
    })),
    ...(deployed.isCustom === true ? { custom_certificate: deployed.chain } : {}),
  };
  return {
    ssl: JSON.stringify(ssl),
    ssl_status: "active",
    caa_error: 0,
    // The owner renews an uploaded certificate.
    ssl_due_ms: deployed.isCustom === true ? null : Date.parse(certificate.not_after) - RENEW_BEFORE_MS,
    ssl_tries: 0,
    modified_on: certificate.created_on,
  };
}

const keyKind = (chain: string): string => new X509Certificate(chain).publicKey.asymmetricKeyType ?? "";
