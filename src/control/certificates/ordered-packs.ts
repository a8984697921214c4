import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { ZoneRef } from "#control/open-zone/zone-ref.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { isWithin, parseHostname } from "#kernel/net/hostname.ts";
import { CERTIFICATE_PACKS_MAX, type CertificatePackEdit, type CertificatePackOrder } from "#model/certificates/certificate-pack.ts";
import { COMMON_NAME_LENGTH_MAX } from "#model/hostnames/custom-hostname.ts";
import {
  certificatePack,
  type CertificatePackRow,
  certificatePacksOfZone,
  deleteCertificatePack,
  insertCertificatePack,
  updateCertificatePack,
} from "#store/certificates/certificate-packs.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { certificatesOfZone } from "#store/certificates/certificates.ts";
import { customCertificatesOfZone } from "#store/certificates/custom-certificates.ts";
import { lockZone } from "#store/zones/zones.ts";
import { brandingFlag } from "./branding-flag.ts";
import { brandingNote } from "./branding-note.ts";
import type { IssuerName } from "./choose-authority.ts";
import { type CertificateOrders, forgetOrder } from "./orders.ts";

/** Orders of certificates for names of a zone, which renew themselves. */
export interface OrderedPacks {
  order(call: Call, zone: ZoneRef, body: CertificatePackOrder): Promise<string>;
  /** Begins the validation again; with another branding, orders another certificate. Throws `certificate_not_found`. */
  edit(call: Call, zone: ZoneRef, id: string, edit: CertificatePackEdit): Promise<void>;
  /** Throws `certificate_not_found`. */
  remove(call: Call, zone: ZoneRef, id: string): Promise<{ readonly id: string }>;
}

export function createOrderedPacks(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly orders: CertificateOrders;
  readonly vendorPrefix: string;
  /** Of certificates of zones, in order of preference. */
  readonly issuers: readonly IssuerName[];
}): OrderedPacks {
  const { clock, orders, vendorPrefix, issuers } = deps;
  const request = (unit: Unit, { id, zone_id, hosts, method, requested }: CertificatePackRow): Promise<void> =>
    orders.request(unit, {
      ...{ owner_kind: "certificate_pack", owner_id: id, zone_id, method, requested },
      hosts: JSON.parse(hosts) as string[],
    });
  const load = async (db: Unit["db"], zone: ZoneRef, id: string): Promise<CertificatePackRow> => {
    const row = await certificatePack(db, id);
    if (row?.zone_id === zone.id) return row;
    if ((await certificatesOfZone(db, zone.id)).some((one) => one.id === id))
      throw invalid("", "The universal certificate of a zone renews itself: it cannot be edited or deleted.");
    if ((await customCertificatesOfZone(db, zone.id)).some((one) => one.id === id))
      throw invalid("", "An uploaded certificate is edited and deleted at custom_certificates.");
    throw new PlatformError("certificate_not_found");
  };
  const audited = (call: Call, zone: ZoneRef, id: string, verb: string) => ({
    ...{ action: `certificate_pack.${verb}`, actor: auditActor(call), account_id: zone.account_id, zone_id: zone.id },
    resource: { type: "certificate_pack", id },
  });

  /** Says in the response if the certificate will not have the Common Name that was asked for. */
  const tellBranding = (call: Call, branding: boolean, hosts: readonly string[], requested: string): void => {
    const note = branding ? brandingNote(hosts[0] ?? "", issuers, requested) : null;
    if (note !== null) (call.notes ??= []).push(note);
  };

  return {
    order: async (call, zone, body) => {
      const branding = brandingFlag(body, "", vendorPrefix) ?? false;
      const { validation_method: method = "txt", certificate_authority: requested = "", validity_days = 90 } = body;
      if (method === "email") throw invalid("validation_method", "Validation by e-mail is not available; use txt or http.");
      const hosts = hostsIn(zone.name, body.hosts, branding);
      if (method === "http" && hosts.some((host) => host.startsWith("*.")))
        throw invalid("validation_method", "A wildcard is validated by txt only (RFC 8555 §7.1.3).");
      tellBranding(call, branding, hosts, requested);
      const now = isoMicros(clock.nowMicros());
      const row: CertificatePackRow = {
        ...{ id: newId(), zone_id: zone.id, hosts: JSON.stringify(hosts), method, requested, validity_days, branding: branding ? 1 : 0 },
        ...{ status: "initializing", error: "", chain: null, private_key: null, issuer: "", not_before: null, not_after: null },
        ...{ created_on: now, modified_on: now },
      };
      await commit(deps, call, async (unit) => {
        await lockZone(unit.db, zone.id);
        if ((await certificatePacksOfZone(unit.db, zone.id)).length >= CERTIFICATE_PACKS_MAX)
          throw invalid("hosts", `A zone has at most ${CERTIFICATE_PACKS_MAX} certificate packs.`);
        await insertCertificatePack(unit.db, row);
        await request(unit, row);
        unit.audit({
          ...audited(call, zone, row.id, "order"),
          after: { hosts, certificate_authority: requested, validation_method: method },
        });
      });
      orders.wake();
      return row.id;
    },

    edit: async (call, zone, id, edit) => {
      const branding = brandingFlag(edit, "", vendorPrefix);
      await commit(deps, call, async (unit) => {
        const before = await load(unit.db, zone, id);
        checkUnchanged(before, edit);
        const isRenamed = branding !== undefined && branding !== (before.branding === 1);
        if (isRenamed) hostsIn(zone.name, JSON.parse(before.hosts) as string[], branding);
        tellBranding(call, branding === true, JSON.parse(before.hosts) as string[], before.requested);
        const values = { branding: (branding ?? before.branding === 1) ? 1 : 0, modified_on: isoMicros(clock.nowMicros()) };
        await updateCertificatePack(unit.db, id, values);
        if (isRenamed || before.chain === null) await request(unit, before);
        unit.audit({ ...audited(call, zone, id, "edit"), before: { branding: before.branding }, after: { branding: values.branding } });
      });
      orders.wake();
    },

    remove: (call, zone, id) =>
      commit(deps, call, async (unit) => {
        const before = await load(unit.db, zone, id);
        await forgetOrder(unit, { owner_kind: "certificate_pack", owner_id: id });
        await deleteCertificatePack(unit.db, id);
        if (before.chain !== null) unit.change({ kind: "certificate", id, value: null });
        unit.audit({ ...audited(call, zone, id, "delete"), before: { hosts: JSON.parse(before.hosts) as string[] } });
        return { id };
      }),
  };
}

const invalid = (field: string, message: string): PlatformError =>
  new PlatformError("invalid_input", { message, ...(field === "" ? {} : { source: `/${field}` }) });

/** Clients may send the whole pack back. Throws `invalid_input` if a member that only a new order can change differs. */
function checkUnchanged(row: CertificatePackRow, { hosts, validation_method, certificate_authority }: CertificatePackEdit): void {
  const sorted = (names: readonly string[]): string => [...new Set(names.map((name) => name.toLowerCase()))].toSorted().join();
  const changed =
    hosts !== undefined && sorted(hosts) !== sorted(JSON.parse(row.hosts) as string[])
      ? "hosts"
      : validation_method !== undefined && validation_method !== row.method
        ? "validation_method"
        : certificate_authority !== undefined && ![row.requested, row.issuer].includes(certificate_authority)
          ? "certificate_authority"
          : null;
  if (changed !== null) throw invalid(changed, `The ${changed} of a pack cannot change: order another pack and delete this one.`);
}

/** Throws `invalid_input` if a name is not in the zone, `hostname_too_long` if none fits into the Common Name. */
function hostsIn(zoneName: string, texts: readonly string[], branding: boolean): readonly string[] {
  const hosts = texts.map((text, index) => {
    const host = parseHostname(text, { wildcard: true });
    if (host !== undefined && isWithin(host.replace(/^\*\./, ""), zoneName)) return host;
    throw new PlatformError("invalid_input", {
      message: `${JSON.stringify(text)} is not a name in the zone ${zoneName}.`,
      source: `/hosts/${index}`,
    });
  });
  if (!branding && hosts.every((host) => host.length > COMMON_NAME_LENGTH_MAX))
    throw new PlatformError("hostname_too_long", { source: "/hosts" });
  return [...new Set(hosts)];
}
