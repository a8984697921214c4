import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { LocalCa } from "#acme/local-ca.ts";
import type { CertificateOrdering } from "#control/certificates/create.ts";
import { type Call, type Page, type PageRequest, systemCall } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { listFilter, type ZoneQuery } from "#control/zones/list-filter.ts";
import { zoneView } from "#control/zones/view.ts";
import { accountDefaults } from "#control/zones/account-defaults.ts";
import { changeZoneType, newZoneSettings } from "#control/zones/change-type.ts";
import { openZone, writeZone } from "#control/open-zone/change-zone.ts";
import { addCertificate, issueZoneCertificate } from "#control/certificates/zone-certificate.ts";
import type { Ownership } from "#control/ownership/ownership.ts";
import type { Removals } from "#control/zones/removals.ts";
import { removeZone } from "#control/ownership/remove-zone.ts";
import { zoneName } from "#model/zones/zone-name.ts";
import type { Zone, ZoneCreate, ZoneEdit } from "#model/zones/zone.ts";
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
import { accountFor, checkType, columnsOf, editedColumns, newZone } from "./new-zone.ts";

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
