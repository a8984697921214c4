import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { openZone, writeZone } from "#control/open-zone/change-zone.ts";
import {
  type AccountDnsSettings,
  type AccountDnsSettingsEdit,
  type AccountSettingsForDns,
  accountDnsSettingsView,
  type ZoneDnsSettings,
  type ZoneDnsSettingsEdit,
  type ZoneSettings,
  zoneDnsSettingsView,
} from "#model/dns/dns-settings.ts";
import { changeSoa, type SoaChange, soaView } from "#model/dns/soa.ts";
import { findAccount, lockAccount, updateAccount } from "#store/access/accounts.ts";
import { namesOfSet } from "#store/dns/custom-name-servers.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { zoneRowById, type ZoneRow, zonesOfAccount } from "#store/zones/zones.ts";
import { checkAvailable } from "./unavailable-settings.ts";

/**
 * DNS settings of zones and accounts. Writes throw `invalid_input`, `enterprise_only` for SOA values, and
 * `setting_unavailable` for unsupported values.
 */
export interface DnsSettings {
  ofZone(zoneId: string): Promise<ZoneDnsSettings>;
  /** Changes the fields in the body, also in the nameserver. */
  editZone(call: Call, zoneId: string, body: ZoneDnsSettingsEdit): Promise<ZoneDnsSettings>;
  ofAccount(accountId: string): Promise<AccountDnsSettings>;
  /** `zone_defaults` apply to zones created later; `enforce_dns_only` applies to all zones at once. */
  editAccount(call: Call, accountId: string, body: AccountDnsSettingsEdit): Promise<AccountDnsSettings>;
}

export interface DnsSettingsDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Host names of the installation's name servers, for zones without a pair. */
  readonly nameServers: readonly string[];
}

export function createDnsSettings(deps: DnsSettingsDeps): DnsSettings {
  const { store } = deps;
  return {
    ofZone: async (zoneId) => zoneDnsSettingsView(chosenFor(await load(store.read, zoneId))),
    editZone: async (call, zoneId, body) => {
      checkAvailable(body, "");
      return commit(deps, call, async (unit) => {
        const zone = await openZone(unit, zoneId);
        const before = zone.row;
        const chosen = chosenFor(before);
        const after = { ...chosen, ...changed(chosen, body, await isEnterprise(unit.db, before), "") };
        const nameServers = body.nameservers ? await namesFor(unit.db, before, body.nameservers, deps.nameServers) : before.name_servers;
        await writeZone(deps, unit, zone, { settings: JSON.stringify(after), name_servers: nameServers });
        const [shownBefore, shown] = [zoneDnsSettingsView(chosen), zoneDnsSettingsView(after)];
        unit.audit({
          action: "zone.dns_settings.edit",
          actor: auditActor(call),
          account_id: before.account_id,
          zone_id: zoneId,
          resource: { type: "zone", id: zoneId },
          before: shownBefore,
          after: shown,
        });
        return shown;
      });
    },
    ofAccount: async (accountId) => {
      const row = await findAccount(store.read, accountId);
      if (!row) throw new PlatformError("unauthorized_resource");
      return accountDnsSettingsView(JSON.parse(row.dns_settings) as AccountSettingsForDns);
    },
    editAccount: async (call, accountId, body) => {
      checkAvailable(body.zone_defaults ?? {}, "/zone_defaults");
      return commit(deps, call, (unit) => editAccountSettings(deps, unit, call, accountId, body));
    },
  };
}

async function editAccountSettings(
  deps: Pick<DnsSettingsDeps, "clock">,
  unit: Unit,
  call: Call,
  accountId: string,
  body: AccountDnsSettingsEdit,
): Promise<AccountDnsSettings> {
  const row = await lockAccount(unit.db, accountId);
  if (!row) throw new PlatformError("unauthorized_resource");
  const before = JSON.parse(row.dns_settings) as AccountSettingsForDns;
  const defaults = before.zone_defaults ?? {};
  const after: AccountSettingsForDns = {
    ...before,
    ...(body.enforce_dns_only === undefined ? {} : { enforce_dns_only: body.enforce_dns_only }),
    ...(body.zone_defaults && {
      zone_defaults: { ...defaults, ...changed(defaults, body.zone_defaults, row.type === "enterprise", "/zone_defaults") },
    }),
  };
  await updateAccount(unit.db, accountId, { dns_settings: JSON.stringify(after) });
  const [shownBefore, shown] = [accountDnsSettingsView(before), accountDnsSettingsView(after)];
  if (shown.enforce_dns_only !== shownBefore.enforce_dns_only) await enforceDnsOnly(deps, unit, accountId, shown.enforce_dns_only);
  unit.audit({
    action: "account.dns_settings.edit",
    actor: auditActor(call),
    account_id: accountId,
    zone_id: null,
    resource: { type: "account", id: accountId },
    before: shownBefore,
    after: shown,
  });
  return shown;
}

async function enforceDnsOnly(deps: Pick<DnsSettingsDeps, "clock">, unit: Unit, accountId: string, enforced: boolean): Promise<void> {
  for (const { id } of await zonesOfAccount(unit.db, accountId)) {
    const zone = await openZone(unit, id);
    const settings: ZoneSettings = { ...chosenFor(zone.row), enforced_dns_only: enforced };
    await writeZone(deps, unit, zone, { settings: JSON.stringify(settings) });
  }
}

interface Changeable {
  readonly soa?: SoaChange;
}

/** The changed fields, with the SOA values checked together. */
function changed<B extends Changeable & { foundation_dns?: boolean; internal_dns?: object }>(
  before: Changeable,
  body: B,
  enterprise: boolean,
  pointer: string,
): Omit<B, "soa" | "foundation_dns" | "internal_dns"> & Changeable {
  const { soa: soaChange, foundation_dns: _, internal_dns: __, ...others } = body;
  if (soaChange === undefined) return others;
  const soa = changeSoa(before.soa ?? {}, soaChange, `${pointer}/soa`);
  // SPEC 2.4. A client may send back unchanged values.
  const same = JSON.stringify(soaView(soa)) === JSON.stringify(soaView(before.soa ?? {}));
  if (!enterprise && !same) throw new PlatformError("enterprise_only", { source: `${pointer}/soa` });
  return { ...others, soa };
}

const chosenFor = (row: ZoneRow): ZoneSettings => JSON.parse(row.settings) as ZoneSettings;

/** SPEC 2.4 refers to accounts; here a zone on the enterprise plan also counts. */
const isEnterprise = async (db: Unit["db"], zone: ZoneRow): Promise<boolean> =>
  zone.plan === "enterprise" || (await findAccount(db, zone.account_id))?.type === "enterprise";

async function load(db: Unit["db"], id: string): Promise<ZoneRow> {
  const row = await zoneRowById(db, id);
  if (row === undefined) throw new PlatformError("zone_not_found");
  return row;
}

/** The names of the chosen name servers, as the zone's column stores them. */
async function namesFor(
  db: Unit["db"],
  zone: ZoneRow,
  chosen: NonNullable<ZoneDnsSettings["nameservers"]>,
  installation: readonly string[],
): Promise<string> {
  if (chosen.type === "custom.account") {
    const names = await namesOfSet(db, zone.account_id, chosen.ns_set ?? 1);
    if (names.length > 0) return JSON.stringify(names);
    throw new PlatformError("invalid_input", {
      message: `The account has no custom name servers in set ${chosen.ns_set ?? 1}.`,
      source: "/nameservers",
    });
  }
  if (chosen.type === "custom.zone" && zone.vanity_name_servers === "[]")
    throw new PlatformError("invalid_input", { message: "The zone has no vanity_name_servers.", source: "/nameservers/type" });
  return zone.pair === "[]" ? JSON.stringify(installation) : zone.pair;
}
