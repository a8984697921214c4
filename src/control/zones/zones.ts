import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { parseHostname } from "#kernel/net/hostname.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { LocalCa } from "#acme/local-ca.ts";
import { holdsInEveryZone, touchedAccounts, touchesAccount } from "#control/access/grants.ts";
import type { CertificateOrdering } from "#control/certificates/create.ts";
import { type Call, type Page, type PageRequest, systemCall } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { listFilter, type ZoneQuery } from "#control/zones/list-filter.ts";
import { zoneView } from "#control/zones/view.ts";
import { accountDefaults } from "#control/zones/account-defaults.ts";
import { changeZoneType, newZoneSettings } from "#control/zones/change-type.ts";
import { serialAfter } from "#wire/dns/serial.ts";
import { openZone, writeZone } from "#control/open-zone/change-zone.ts";
import { addCertificate, issueZoneCertificate } from "#control/certificates/zone-certificate.ts";
import type { Ownership } from "#control/ownership/ownership.ts";
import type { Admission } from "#control/ownership/admission.ts";
import type { Removals } from "#control/zones/removals.ts";
import { removeZone } from "#control/ownership/remove-zone.ts";
import { findPlan } from "#model/zones/plan.ts";
import { zoneName } from "#model/zones/zone-name.ts";
import type { Zone, ZoneCreate, ZoneEdit, ZoneType } from "#model/zones/zone.ts";
import { serialEntry, zoneEntry } from "#snapshot/compile/zone-entry.ts";
import { findAccount } from "#store/access/accounts.ts";
import type { Store, Unit } from "#store/database/store.ts";
import {
  countZones,
  insertZone,
  listZones,
  zoneById,
  zoneListKey,
  zoneListOwners,
  type ZoneRow,
  type ZoneWithAccount,
} from "#store/zones/zones.ts";
import { listState } from "#store/queries/list-pages.ts";
import { createPages, isQuick } from "#control/pages.ts";

export interface Zones {
  /**
   * Creates a zone that is active, or pending until its ownership is proved. Throws `zone_name_invalid`, `zone_exists`,
   * `zone_held`, `zone_type_unavailable`, `zone_name_reserved`, `zone_below_anothers`, `zone_above_anothers`,
   * `zones_pending_max`.
   */
  create(call: Call, body: ZoneCreate): Promise<Zone>;
  /** Zones in which the credential has any permission. */
  list(call: Call, query: ZoneQuery, page: PageRequest): Promise<Page<Zone>>;
  /** Adds a note to the call about what a pending zone waits for. */
  get(id: string, call?: Call): Promise<Zone>;
  edit(call: Call, id: string, body: ZoneEdit): Promise<Zone>;
  /** Also deletes the zone's records, rulesets and certificates. */
  delete(call: Call, id: string): Promise<{ id: string }>;
  /** Checks the ownership of a zone that is not active now. Throws `activation_check_too_soon`. */
  checkActivation(call: Call, id: string): Promise<{ id: string }>;
}

export interface ZonesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Null if the installation has no local authority. */
  readonly ca: LocalCa | null;
  /** Orders certificates from external authorities, if the operator has configured them. */
  readonly ordering: Pick<CertificateOrdering, "orderForZone" | "orders">;
  readonly removals: Removals;
  readonly ownership: Ownership;
}

/** Zones of type internal are for views, which are not supported. */
const TYPES: ReadonlySet<ZoneType> = new Set(["full", "partial", "secondary"]);

export function createZones(deps: ZonesDeps): Zones {
  const { store, clock, ownership } = deps;
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
      const before = await ownership.foresee(name, accountId);
      const type = body.type ?? "full";
      const draft = newZone(deps, accountId, name, type);
      // Signing takes milliseconds, in which a unit would block every other write.
      const issue = () => (deps.ca === null ? null : issueZoneCertificate(deps, deps.ca, draft));
      const issued = before.admission.status === "active" ? await issue() : null;
      const created = await commit(deps, call, async (unit) => {
        const account = await findAccount(unit.db, accountId);
        if (account === undefined) throw new PlatformError("unauthorized_resource");
        const admission = await ownership.admit(unit.db, name, accountId, before.parent);
        const defaults = { ...draft, ...columnsOf(admission, draft), ...(await accountDefaults(unit.db, account)) };
        const row: ZoneRow = {
          ...defaults,
          settings: newZoneSettings(type, defaults.settings),
          original_name_servers: before.parent === null ? null : JSON.stringify(before.parent.nameServers),
        };
        await insertZone(unit.db, row);
        await ownership.begin(unit, row);
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
        if (row.status !== "active") {
          (call.notes ??= []).push(ownership.reasonOf(row));
          return zone;
        }
        const certificate = issued ?? (await issue());
        if (certificate) await addCertificate(unit, certificate);
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

    get: async (id, call) => {
      const row = await load(store.read, id);
      if (call && row.status !== "active") (call.notes ??= []).push(ownership.reasonOf(row));
      return view(row);
    },

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
      if ((await load(store.read, id)).status !== "active") await ownership.lookNow(call, id);
      return { id };
    },
  };
}

/** The given account, or the only one in which the credential has permissions. */
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
    status: "pending",
    type,
    paused: 0,
    plan: "free",
    name_servers: "[]",
    settings: "{}",
    edge_settings: "{}",
    waf_migration: "start",
    serial: Math.floor(deps.clock.nowMs() / 1000),
    record_count: 0,
    dns_version_count: 0,
    vanity_name_servers: "[]",
    proof: "none",
    verification_key: "",
    original_name_servers: null,
    pair: "[]",
    activated_on: null,
    created_on: now,
    modified_on: now,
  };
}

/** The columns that admission determines. */
function columnsOf(admission: Admission, { serial, created_on }: ZoneRow): Partial<ZoneRow> {
  const { status, proof, pair, shown, serialSeen, asksParent } = admission;
  return {
    ...{ status, proof, pair: JSON.stringify(pair ?? []), name_servers: JSON.stringify(shown) },
    activated_on: status === "active" ? created_on : null,
    verification_key: status === "pending" && asksParent ? newId() : "",
    // Secondaries of an earlier zone of this name must see a later serial (RFC 1982).
    serial: serialAfter(serialSeen, serial),
  };
}

function editedColumns(body: ZoneEdit): Partial<ZoneRow> {
  checkType(body.type);
  const plan = body.plan && findPlan(body.plan.id);
  if (body.plan && plan === undefined)
    throw new PlatformError("invalid_input", {
      message: `the plan ${JSON.stringify(body.plan.id)} does not exist`,
      source: "/plan/id",
    });
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
      message: `${JSON.stringify(text)} is not a valid host name`,
      source: `/vanity_name_servers/${index}`,
    });
  return name;
}

function checkType(type: ZoneType | undefined): void {
  if (type !== undefined && !TYPES.has(type)) throw new PlatformError("zone_type_unavailable", { source: "/type" });
}
