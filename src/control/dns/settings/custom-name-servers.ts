import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { hostnameProblem, parseHostname } from "#kernel/net/hostname.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { DnsSettings } from "./settings.ts";
import { openZone, writeZone } from "#control/open-zone/change-zone.ts";
import {
  type CustomNameServer,
  type CustomNameServerCreate,
  SET_NAMES_MAX,
  type ZoneCustomNs,
  type ZoneCustomNsEdit,
} from "#model/dns/custom-name-server.ts";
import type { ZoneSettings } from "#model/dns/dns-settings.ts";
import { lockAccount } from "#store/access/accounts.ts";
import {
  closestZone,
  customNameServer,
  type CustomNameServerRow,
  customNameServers,
  deleteCustomNameServer,
  directAddressesOf,
  insertCustomNameServer,
  namesOfSet,
} from "#store/dns/custom-name-servers.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { zonesOfAccount } from "#store/zones/zones.ts";

export interface CustomNameServers {
  list(accountId: string): Promise<readonly CustomNameServer[]>;
  /**
   * Zones that use the set list the name at once. Throws `invalid_input` for names that are invalid, already used or too
   * many.
   */
  create(call: Call, accountId: string, body: CustomNameServerCreate): Promise<CustomNameServer>;
  /** Throws `still_in_use` for the last name of a set in use. */
  remove(call: Call, accountId: string, name: string): Promise<readonly string[]>;
  /** The names of the account's zones; every zone can use custom name servers here. */
  eligibleZones(accountId: string): Promise<readonly string[]>;
  ofZone(zoneId: string): Promise<ZoneCustomNs>;
  editZone(call: Call, zoneId: string, body: ZoneCustomNsEdit): Promise<void>;
}

export interface CustomNameServersDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: Pick<DnsSettings, "ofZone" | "editZone">;
}

export function createCustomNameServers(deps: CustomNameServersDeps): CustomNameServers {
  const { store, clock, settings } = deps;
  const ofZone = async (zoneId: string): Promise<ZoneCustomNs> => {
    const { type, ns_set } = (await settings.ofZone(zoneId)).nameservers;
    return { enabled: type === "custom.account", ns_set: ns_set ?? 1 };
  };
  return {
    list: async (accountId) => {
      const shown: CustomNameServer[] = [];
      for (const row of await customNameServers(store.read, accountId)) shown.push(await view(store.read, row));
      return shown;
    },
    create: (call, accountId, body) =>
      commit(deps, call, async (unit) => {
        const row = {
          account_id: accountId,
          name: hostName(body.ns_name),
          ns_set: body.ns_set ?? 1,
          created_on: isoMicros(clock.nowMicros()),
        };
        await lockAccount(unit.db, accountId);
        await assertRoom(unit.db, row);
        await insertCustomNameServer(unit.db, row);
        await renameServers(deps, unit, row);
        const shown = await view(unit.db, row);
        audit(unit, call, "custom_name_server.create", row, null, shown);
        return shown;
      }),
    remove: (call, accountId, name) =>
      commit(deps, call, async (unit) => {
        await lockAccount(unit.db, accountId);
        const row = await customNameServer(unit.db, accountId, name.toLowerCase());
        if (!row) throw new PlatformError("not_found");
        const before = await view(unit.db, row);
        await deleteCustomNameServer(unit.db, accountId, row.name);
        await renameServers(deps, unit, row);
        audit(unit, call, "custom_name_server.delete", row, before, null);
        return [];
      }),
    eligibleZones: async (accountId) => (await zonesOfAccount(store.read, accountId)).map(({ name }) => name),
    ofZone,
    editZone: async (call, zoneId, body) => {
      const before = await ofZone(zoneId);
      const { enabled, ns_set } = { ...before, ...body };
      await settings.editZone(call, zoneId, {
        nameservers: enabled ? { type: "custom.account", ns_set } : { type: "cloudflare.standard" },
      });
    },
  };
}

function hostName(text: string): string {
  const name = parseHostname(text);
  if (name !== undefined && name.includes(".")) return name;
  const problem = hostnameProblem(text) ?? "it is a single label";
  throw new PlatformError("invalid_input", {
    message: `${JSON.stringify(text)} is not a valid name for a name server: ${problem}.`,
    source: "/ns_name",
  });
}

async function assertRoom(db: Unit["db"], row: CustomNameServerRow): Promise<void> {
  if (await customNameServer(db, row.account_id, row.name))
    throw new PlatformError("invalid_input", { message: `The account already has the name server ${row.name}.`, source: "/ns_name" });
  if ((await namesOfSet(db, row.account_id, row.ns_set)).length >= SET_NAMES_MAX)
    throw new PlatformError("invalid_input", {
      message: `Set ${row.ns_set} already has ${SET_NAMES_MAX} name servers.`,
      source: "/ns_set",
    });
}

/** Updates the name servers of zones that use the set. */
async function renameServers(deps: { readonly clock: Clock }, unit: Unit, { account_id, ns_set }: CustomNameServerRow): Promise<void> {
  const names = await namesOfSet(unit.db, account_id, ns_set);
  for (const zone of await zonesOfAccount(unit.db, account_id)) {
    const { nameservers } = JSON.parse(zone.settings) as ZoneSettings;
    if (nameservers?.type !== "custom.account" || (nameservers.ns_set ?? 1) !== ns_set) continue;
    if (names.length === 0)
      throw new PlatformError("still_in_use", { message: `${zone.name} uses set ${ns_set}, which would have no name server left.` });
    await writeZone(deps, unit, await openZone(unit, zone.id), { name_servers: JSON.stringify(names) });
  }
}

/** A name is verified once the account's own zone has addresses for it, so that resolvers can find the server. */
async function view(db: Unit["db"], row: CustomNameServerRow): Promise<CustomNameServer> {
  const labels = row.name.split(".");
  const zone = await closestZone(
    db,
    row.account_id,
    labels.map((_, at) => labels.slice(at).join(".")),
  );
  const addresses = zone ? await directAddressesOf(db, zone.id, row.name) : [];
  return {
    ns_name: row.name,
    ns_set: row.ns_set,
    status: addresses.length > 0 ? "verified" : "pending",
    zone_tag: zone?.id ?? "",
    dns_records: addresses.map(({ type, content }) => ({ type: type === "AAAA" ? "AAAA" : "A", value: content })),
  };
}

function audit(
  unit: Unit,
  call: Call,
  action: string,
  row: CustomNameServerRow,
  before: CustomNameServer | null,
  after: CustomNameServer | null,
): void {
  const resource = { type: "custom_name_server", id: row.name };
  unit.audit({ action, actor: auditActor(call), account_id: row.account_id, zone_id: null, resource, before, after });
}
