import { createPages, isQuick } from "#control/pages.ts";
import { listState } from "#store/queries/list-pages.ts";
import { randomUUID } from "node:crypto";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { ZoneRef } from "#control/open-zone/zone-ref.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import {
  type CustomHostname,
  type CustomHostnameCertificate,
  type CustomHostnameCreate,
  type CustomHostnameEdit,
  type CustomHostnameQuota,
  type HostnameSsl,
} from "#model/hostnames/custom-hostname.ts";
import { checkDelayMs, type HostnameStatus, nextStatus } from "#model/hostnames/custom-hostname-states.ts";
import { customHostnameEntry } from "#snapshot/compile/custom-hostname-entry.ts";
import {
  countCustomHostnames,
  customHostnameNamed,
  customHostnameOfZone,
  type CustomHostnameRow,
  deleteHostnameCertificate,
  hostnameCertificates,
  insertCustomHostname,
  countListedHostnames,
  hostnameListKey,
  isWholeHostnameList,
  listCustomHostnames,
  updateCustomHostname,
} from "#store/hostnames/custom-hostnames.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { lockZone } from "#store/zones/zones.ts";
import type { IssuerName } from "#control/certificates/choose-authority.ts";
import { brandingNote } from "#control/certificates/branding-note.ts";
import { checkCommonName } from "./branding.ts";
import type { CertificateIssuer } from "./certificate-issuer.ts";
import { originErrorOf } from "./fallback-origins.ts";
import { hostnameColumns } from "./hostname-columns.ts";
import type { HostnameChecks } from "./hostname-checks.ts";
import { readBranding } from "./hostname-input.ts";
import { checkedName, NAME_ERRORS } from "./hostname-names.ts";
import { hostnameView } from "./hostname-view.ts";
import type { IssuanceLimit } from "./issuance-limit.ts";
import { type HostnameQuery, readHostnameFilter } from "./list-filter.ts";
import type { OwnCertificates } from "./own-certificate.ts";
import { removeHostname } from "./remove-hostname.ts";

/** Custom hostnames of a zone (SPEC 2.7, 3.2, 4.4). Throws the codes of contract.md §5. */
export interface CustomHostnames {
  list(zone: ZoneRef, query: HostnameQuery, page: PageRequest): Promise<Page<CustomHostname>>;
  get(zone: ZoneRef, id: string): Promise<CustomHostname>;
  /** A name that already points here is active in the response. */
  create(call: Call, zone: ZoneRef, body: CustomHostnameCreate): Promise<CustomHostname>;
  /** Restarts the validation of an inactive hostname. */
  edit(call: Call, zone: ZoneRef, id: string, body: CustomHostnameEdit): Promise<CustomHostname>;
  remove(call: Call, zone: ZoneRef, id: string): Promise<{ id: string }>;
  quota(zone: ZoneRef): Promise<CustomHostnameQuota>;
  /** Throws `hostname_certificate_not_found` if the ids match no uploaded certificate. */
  replaceCertificate(call: Call, zone: ZoneRef, names: CertificateNames, body: CustomHostnameCertificate): Promise<CustomHostname>;
  deleteCertificate(call: Call, zone: ZoneRef, names: CertificateNames): Promise<{ id: string }>;
}

/** The ids in the path of a certificate: of the hostname, `ssl.id`, and its own. */
export interface CertificateNames {
  readonly custom_hostname_id: string;
  readonly certificate_pack_id: string;
  readonly certificate_id: string;
}

export interface CustomHostnamesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly checks: HostnameChecks;
  readonly issuer: CertificateIssuer;
  readonly own: OwnCertificates;
  readonly limit: IssuanceLimit;
  readonly perZoneMax: number;
  readonly vendorPrefix: string;
  /** Of certificates of custom hostnames, in order of preference. */
  readonly issuers: readonly IssuerName[];
}

/** Maximum time that a response waits for a DNS check, which continues in the background. */
const LOOK_MS_MAX = 4_000;

export function createCustomHostnames(deps: CustomHostnamesDeps): CustomHostnames {
  const { store, clock, checks, issuer, own, limit, perZoneMax, vendorPrefix } = deps;
  const pages = createPages();

  const load = async (db: Unit["db"], zone: ZoneRef, id: string): Promise<CustomHostnameRow> => {
    const row = await customHostnameOfZone(db, zone.id, id);
    if (row === undefined) throw new PlatformError("hostname_not_found");
    return row;
  };
  const show = async (zone: ZoneRef, id: string): Promise<CustomHostname> => {
    const row = await load(store.read, zone, id);
    return hostnameView(row, vendorPrefix, await originErrorOf(store.read, zone.id));
  };
  /** Says in the response if the certificate will not have the Common Name that was asked for. */
  const tellBranding = (call: Call, { hostname, branding, ssl, certificate_authority }: CustomHostnameRow): void => {
    if (branding === 0 || ssl === null || (JSON.parse(ssl) as HostnameSsl).custom_certificate !== undefined) return;
    const note = brandingNote(hostname, deps.issuers, certificate_authority);
    if (note !== null) call.notes = [...(call.notes ?? []), note];
  };
  /** Checks the hostname now, and requests its certificate. */
  const begin = async (call: Call, id: string, wantsCertificate: boolean): Promise<void> => {
    await within(LOOK_MS_MAX, checks.check(call, id));
    if (wantsCertificate) await within(LOOK_MS_MAX, issuer.request([id]));
  };

  /** The hostname of an uploaded certificate. */
  const ownerOf = async (db: Unit["db"], zone: ZoneRef, names: CertificateNames): Promise<CustomHostnameRow> => {
    const row = await load(db, zone, names.custom_hostname_id);
    const certificates = await hostnameCertificates(db, row.id);
    const isNamed = certificates.some(({ id, is_custom }) => is_custom === 1 && id === names.certificate_id);
    const pack = row.ssl === null ? undefined : (JSON.parse(row.ssl) as HostnameSsl).id;
    if (!isNamed || pack !== names.certificate_pack_id) throw new PlatformError("hostname_certificate_not_found");
    return row;
  };

  return {
    list: async (zone, query, page) => {
      const filter = readHostnameFilter(query);
      const isWhole = isWholeHostnameList(filter);
      const state = await listState(store.read, "custom_hostnames", [zone.id]);
      const db = isQuick(state, isWhole) ? store.read : store.scan;
      const originError = await originErrorOf(store.read, zone.id);
      return pages({
        list: [zone.id, filter],
        state,
        isWhole,
        page,
        items: (part) => listCustomHostnames(db, zone.id, filter, part),
        count: () => countListedHostnames(db, zone.id, filter),
        keyOf: hostnameListKey(filter),
        view: (row) => hostnameView(row, vendorPrefix, originError),
      });
    },

    get: (zone, id) => show(zone, id),

    create: async (call, zone, body) => {
      const hostname = checkedName(body.hostname, NAME_ERRORS.hostname);
      const branding = readBranding(body, vendorPrefix) ?? false;
      checkCommonName(hostname, branding, vendorPrefix);
      const draft = { ...newRow(clock, zone, hostname), branding: branding ? 1 : 0 };
      const { columns, custom } = await hostnameColumns(store.read, zone, body, draft);
      const certificate = custom && own.read(custom, hostname);
      const row: CustomHostnameRow = { ...draft, ...columns };
      const wantsCertificate = row.ssl !== null && certificate === undefined;
      const insert = async (unit: Unit): Promise<void> => {
        await insertChecked(unit, call, zone, row);
        if (wantsCertificate) await issuer.order(unit, row);
      };
      await limit.watch(zone.account_id, () => commit(deps, call, insert));
      tellBranding(call, row);
      if (certificate) await own.deploy(call, row.id, certificate);
      await begin(call, row.id, wantsCertificate);
      return show(zone, row.id);
    },

    edit: async (call, zone, id, body) => {
      const seen = await load(store.read, zone, id);
      const branding = readBranding(body, vendorPrefix);
      if (branding === false) checkCommonName(seen.hostname, branding, vendorPrefix);
      // Another Common Name requires another certificate.
      const isRenamed = branding !== undefined && branding !== (seen.branding === 1);
      const { columns, custom } = await hostnameColumns(store.read, zone, body, isRenamed ? { ...seen, ssl_status: "initializing" } : seen);
      const certificate = custom && own.read(custom, seen.hostname);
      const wantsCertificate = columns.ssl_status !== undefined && certificate === undefined;
      await commit(deps, call, async (unit) => {
        await lockZone(unit.db, zone.id);
        const before = await load(unit.db, zone, id);
        const values = {
          ...columns,
          ...(branding === undefined ? {} : { branding: branding ? 1 : 0 }),
          ...restarted(before, clock.nowMs()),
          modified_on: isoMicros(clock.nowMicros()),
        };
        const after = { ...before, ...values };
        await updateCustomHostname(unit.db, id, values);
        if (wantsCertificate) await issuer.order(unit, after);
        unit.change({ kind: "custom_hostname", id, value: customHostnameEntry(after) });
        unit.audit({
          ...auditOf(call, zone, id, "custom_hostname.edit"),
          before: hostnameView(before, vendorPrefix),
          after: hostnameView(after, vendorPrefix),
        });
      });
      if (branding === true) tellBranding(call, await load(store.read, zone, id));
      if (certificate) await own.deploy(call, id, certificate);
      await begin(call, id, wantsCertificate);
      return show(zone, id);
    },

    remove: (call, zone, id) =>
      commit(deps, call, async (unit) => {
        await removeHostname(unit, call, await load(unit.db, zone, id));
        return { id };
      }),

    replaceCertificate: async (call, zone, names, { custom_certificate: certificate, custom_key: key }) => {
      const { id, hostname } = await ownerOf(store.read, zone, names);
      await own.deploy(call, id, own.read({ certificate, key }, hostname));
      return show(zone, id);
    },

    deleteCertificate: async (call, zone, names) => {
      await commit(deps, call, async (unit) => {
        const row = await ownerOf(unit.db, zone, names);
        await deleteHostnameCertificate(unit.db, names.certificate_id);
        const { hosts: _, custom_certificate: __, certificates: ___, ...ssl } = JSON.parse(row.ssl as string) as HostnameSsl;
        const wanted = { ssl: JSON.stringify(ssl), ssl_status: "initializing" };
        await updateCustomHostname(unit.db, row.id, wanted);
        await issuer.order(unit, { ...row, ...wanted });
        unit.change({ kind: "certificate", id: names.certificate_id, value: null });
        unit.audit({
          ...auditOf(call, zone, row.id, "custom_hostname.certificate_delete"),
          before: { certificate_id: names.certificate_id },
        });
      });
      // An issued certificate replaces the deleted one.
      await within(LOOK_MS_MAX, issuer.request([names.custom_hostname_id]));
      return { id: names.custom_hostname_id };
    },

    quota: async (zone) => {
      const used = await countCustomHostnames(store.read, zone.id);
      return { allocated: perZoneMax, used, exceeded: used > perZoneMax, hard_cap: perZoneMax };
    },
  };

  async function insertChecked(unit: Unit, call: Call, zone: ZoneRef, row: CustomHostnameRow): Promise<void> {
    if (!(await lockZone(unit.db, zone.id))) throw new PlatformError("zone_not_found");
    if (perZoneMax === 0) throw new PlatformError("hostname_quota_none");
    if (await customHostnameNamed(unit.db, zone.id, row.hostname)) throw new PlatformError("hostname_duplicate", { source: "/hostname" });
    if ((await countCustomHostnames(unit.db, zone.id)) >= perZoneMax) throw new PlatformError("hostname_quota_exceeded");
    if (row.ssl !== null) await limit.take(unit, zone.account_id);
    await insertCustomHostname(unit.db, row);
    unit.change({ kind: "custom_hostname", id: row.id, value: customHostnameEntry(row) });
    unit.audit({ ...auditOf(call, zone, row.id, "custom_hostname.create"), after: hostnameView(row, vendorPrefix) });
  }
}

function newRow(clock: Clock, zone: ZoneRef, hostname: string): CustomHostnameRow {
  const now = isoMicros(clock.nowMicros());
  const nowMs = clock.nowMs();
  return {
    id: randomUUID(),
    zone_id: zone.id,
    hostname,
    wildcard: 0,
    status: "pending",
    status_since_ms: nowMs,
    checks: 0,
    next_check_ms: nowMs + checkDelayMs(0),
    home_zone_id: null,
    home_serial: null,
    verification_errors: "[]",
    ownership_token: randomUUID(),
    custom_metadata: null,
    custom_origin_server: null,
    custom_origin_sni: null,
    ssl_status: null,
    ssl_method: null,
    certificate_authority: "",
    branding: 0,
    caa_error: 0,
    ssl: null,
    ssl_due_ms: null,
    ssl_tries: 0,
    created_at: now,
    modified_on: now,
  };
}

/** SPEC 4.4: a PATCH restarts the validation of a hostname that is not active. */
function restarted(row: CustomHostnameRow, nowMs: number): Partial<CustomHostnameRow> {
  const status = nextStatus(row.status as HostnameStatus, "edited");
  if (status === "active") return {};
  return { status, checks: 0, next_check_ms: nowMs + checkDelayMs(0), ...(status === row.status ? {} : { status_since_ms: nowMs }) };
}

const auditOf = (call: Call, zone: ZoneRef, id: string, action: string) => ({
  action,
  actor: auditActor(call),
  account_id: zone.account_id,
  zone_id: zone.id,
  resource: { type: "custom_hostname", id },
});

/** Waits at most this long. Work that fails later is retried by its own schedule. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  work.catch(() => undefined);
  try {
    await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
