import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors.ts";
import { parseHostname } from "#kernel/hostname.ts";
import { newId } from "#kernel/ids.ts";
import type { Sealer } from "#kernel/seal.ts";
import type { LocalCa } from "#acme/local-ca.ts";
import { isHeldByOthers } from "#control/hostnames/hold.ts";
import { holdsInEveryZone, touchedAccounts, touchesAccount } from "#control/access/grants.ts";
import type { CertificateOrdering } from "#control/certificates/create.ts";
import { type Call, type Page, type PageRequest, systemCall } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { listFilter, type ZoneQuery } from "#control/zones/list-filter.ts";
import { zoneView } from "#control/zones/view.ts";
import { accountDefaults } from "#control/zones/account-defaults.ts";
import { changeZoneType, newZoneSettings } from "#control/zones/change-type.ts";
import { openZone, writeZone } from "#control/zones/change-zone.ts";
import { issueZoneCertificate } from "#control/zones/certificate.ts";
import type { Removals } from "#control/zones/removals.ts";
import { removeZone } from "#control/zones/remove.ts";
import { findPlan } from "#model/plan.ts";
import { zoneName } from "#model/zone-name.ts";
import type { Zone, ZoneCreate, ZoneEdit, ZoneType } from "#model/zone.ts";
import { certificateEntry, serialEntry, zoneEntry } from "#snapshot/compile.ts";
import { findAccount } from "#store/accounts.ts";
import { insertCertificate } from "#store/certificates.ts";
import type { Store, Unit } from "#store/store.ts";
import {
  countZones,
  insertZone,
  listZones,
  zoneById,
  zoneListKey,
  zoneListOwners,
  zoneNameTaken,
  type ZoneRow,
  type ZoneWithAccount,
} from "#store/zones.ts";
import { listState } from "#store/list-pages.ts";
import { createPages, isQuick } from "#control/pages.ts";

export interface Zones {
  /** Throws `zone_name_invalid`, `zone_not_root`, `zone_exists`, `zone_held`, `zone_type_unavailable`. */
  create(call: Call, body: ZoneCreate): Promise<Zone>;
  /** Only zones that the credential reaches. */
  list(call: Call, query: ZoneQuery, page: PageRequest): Promise<Page<Zone>>;
  get(id: string): Promise<Zone>;
  edit(call: Call, id: string, body: ZoneEdit): Promise<Zone>;
  /** The zone's records, rulesets and certificates go with it. */
  delete(call: Call, id: string): Promise<{ id: string }>;
  /** Nobody has to prove to a server of one's own that the registry delegates to it: the zone is active. */
  checkActivation(call: Call, id: string): Promise<{ id: string }>;
}

export interface ZonesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Null where zones get no certificate from the installation itself. */
  readonly ca: LocalCa | null;
  /** Orders certificates of other authorities, where the operator wants them. */
  readonly ordering: Pick<CertificateOrdering, "orderForZone" | "orders">;
  readonly removals: Removals;
  /** Host names of the installation's name servers. */
  readonly nameServers: readonly string[];
}

/** Zones of type internal would be for views that do not exist here. */
const TYPES: ReadonlySet<ZoneType> = new Set(["full", "partial", "secondary"]);

export function createZones(deps: ZonesDeps): Zones {
  const { store, clock } = deps;
  const pages = createPages();

  const load = async (db: Unit["db"], id: string): Promise<ZoneWithAccount> => {
    const row = await zoneById(db, id);
    if (row === undefined) throw new PlatformError("zone_not_found");
    return row;
  };
  const view = (row: ZoneWithAccount): Zone => zoneView(row, clock.nowMs());

  return {
    create: async (call, body) => {
      const accountId = accountFor(call, body.account?.id);
      const name = zoneName(body.name);
      checkType(body.type);
      const draft = newZone(deps, accountId, name, body.type ?? "full");
      if (await zoneNameTaken(store.read, name)) throw alreadyExists(name);
      // Signing takes milliseconds, in which a unit would hold up every other write.
      const certificate = deps.ca && (await issueZoneCertificate(deps, deps.ca, draft));
      const created = await commit(deps, call, async (unit) => {
        const account = await findAccount(unit.db, accountId);
        if (account === undefined) throw new PlatformError("unauthorized_resource");
        const defaults = { ...draft, ...(await accountDefaults(unit.db, account)) };
        const row = { ...defaults, settings: newZoneSettings(body.type ?? "full", defaults.settings) };
        if (await zoneNameTaken(unit.db, name)) throw alreadyExists(name);
        if (await isHeldByOthers(unit.db, name, accountId, clock.nowMs())) throw new PlatformError("zone_held", { source: "/name" });
        await insertZone(unit.db, row);
        const zone = view({ ...row, account_name: account.name });
        unit.audit({
          action: "zone.create",
          actor: auditActor(call),
          account_id: accountId,
          zone_id: row.id,
          resource: { type: "zone", id: row.id },
          after: zone,
        });
        unit.change({ kind: "zone", id: row.id, value: zoneEntry(row) });
        unit.change({ kind: "serial", id: row.id, value: serialEntry(row) });
        if (certificate) {
          await insertCertificate(unit.db, certificate);
          unit.change({ kind: "certificate", id: certificate.id, value: certificateEntry(certificate) });
        }
        await deps.ordering.orderForZone(unit, row);
        return zone;
      });
      deps.ordering.orders.wake();
      return created;
    },

    list: async (call, query, page) => {
      const filter = listFilter(call, query);
      const { owners, isWhole } = zoneListOwners(filter);
      const state = await listState(store.read, "zones", owners);
      const db = isQuick(state, isWhole) ? store.read : store.scan;
      return pages({
        list: filter,
        state,
        isWhole,
        page,
        items: (part) => listZones(db, filter, part),
        count: () => countZones(db, filter),
        keyOf: zoneListKey(filter),
        view,
      });
    },

    get: async (id) => view(await load(store.read, id)),

    edit: async (call, id, body) =>
      commit(deps, call, async (unit) => {
        const opened = await openZone(unit, id);
        const before = await load(unit.db, id);
        const columns = editedColumns(body);
        const changed = changeZoneType(opened, body.type);
        const after = view({ ...before, ...(await writeZone(deps, unit, changed.zone, { ...columns, ...changed.columns })) });
        unit.audit({
          action: "zone.edit",
          actor: auditActor(call),
          account_id: before.account_id,
          zone_id: id,
          resource: { type: "zone", id },
          before: view(before),
          after,
        });
        return after;
      }),

    delete: async (call, id) => {
      const remove = async (unit: Unit): Promise<{ id: string }> => {
        const before = await load(unit.db, id);
        await removeZone(unit, id, clock.nowMicros());
        unit.audit({
          action: "zone.delete",
          actor: auditActor(call),
          account_id: before.account_id,
          zone_id: id,
          resource: { type: "zone", id },
          before: view(before),
        });
        return { id };
      };
      const removed = await commit(deps, call, remove);
      deps.removals.wake(systemCall("remove-leftovers"));
      return removed;
    },

    checkActivation: async (call, id) => {
      if ((await load(store.read, id)).status === "active") return { id };
      return commit(deps, call, async (unit) => {
        const zone = await openZone(unit, id);
        const now = isoMicros(clock.nowMicros());
        const row = await writeZone(deps, unit, zone, { status: "active", activated_on: now });
        unit.audit({
          action: "zone.activate",
          actor: auditActor(call),
          account_id: row.account_id,
          zone_id: id,
          resource: { type: "zone", id },
        });
        return { id };
      });
    },
  };
}

/** The account named, or the only one that the credential reaches. */
function accountFor(call: Call, named: string | undefined): string {
  const reached = named === undefined || named === "" ? touchedAccounts(call.actor) : [named];
  const id = reached[0];
  if (id === undefined || reached.length > 1)
    throw new PlatformError("invalid_input", { message: "account.id is required", source: "/account/id" });
  if (!touchesAccount(call.actor, id)) throw new PlatformError("unauthorized_resource");
  if (!holdsInEveryZone(call.actor, id, ["Zone Write"])) throw new PlatformError("authentication_error");
  return id;
}

function newZone(deps: ZonesDeps, accountId: string, name: string, type: ZoneType): ZoneRow {
  const now = isoMicros(deps.clock.nowMicros());
  return {
    id: newId(),
    account_id: accountId,
    name,
    status: "active",
    type,
    paused: 0,
    plan: "free",
    name_servers: JSON.stringify(deps.nameServers),
    settings: "{}",
    edge_settings: "{}",
    waf_migration: "start",
    // Secondaries that knew an earlier zone of this name see a later serial (RFC 1982).
    serial: Math.floor(deps.clock.nowMs() / 1000),
    record_count: 0,
    dns_version_count: 0,
    vanity_name_servers: "[]",
    proof: "operator",
    verification_key: "",
    original_name_servers: null,
    pair: "[]",
    activated_on: now,
    created_on: now,
    modified_on: now,
  };
}

function editedColumns(body: ZoneEdit): Partial<ZoneRow> {
  checkType(body.type);
  const plan = body.plan && findPlan(body.plan.id);
  if (body.plan && plan === undefined)
    throw new PlatformError("invalid_input", { message: `no plan has the id ${JSON.stringify(body.plan.id)}`, source: "/plan/id" });
  return {
    ...(body.paused === undefined ? {} : { paused: body.paused ? 1 : 0 }),
    ...(plan === undefined ? {} : { plan: plan.name }),
    ...(body.vanity_name_servers === undefined ? {} : { vanity_name_servers: JSON.stringify(body.vanity_name_servers.map(nameServer)) }),
  };
}

function nameServer(text: string, index: number): string {
  const name = parseHostname(text);
  if (name === undefined)
    throw new PlatformError("invalid_input", {
      message: `${JSON.stringify(text)} is no host name`,
      source: `/vanity_name_servers/${index}`,
    });
  return name;
}

function checkType(type: ZoneType | undefined): void {
  if (type !== undefined && !TYPES.has(type)) throw new PlatformError("zone_type_unavailable", { source: "/type" });
}

const alreadyExists = (name: string): PlatformError =>
  new PlatformError("zone_exists", { message: `${name} already exists.`, source: "/name" });
