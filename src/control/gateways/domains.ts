import type { Call, Page, PageRequest } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { hostnameMatches, hostnameProblem, isWithin, parseHostname } from "#kernel/net/hostname.ts";
import type {
  GatewayDomain,
  GatewayDomainCreate,
  GatewayDomainCreated,
  GatewayDomainQuery,
  GatewayDomainStatus,
} from "#model/gateways/gateway-domain.ts";
import type { GatewayDomainEntry } from "#snapshot/entries.ts";
import { certificatesOfZone } from "#store/certificates/certificates.ts";
import {
  deleteGatewayDomains,
  domainsOfGateway,
  gatewayDomain,
  type GatewayDomainRow,
  type GatewayDomainWithZone,
  insertGatewayDomain,
  reliedZones,
} from "#store/gateways/gateway-domains.ts";
import type { Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { invalidInput, type ObjectDeps, pageOf, requireGateway } from "./objects.ts";

/** Hostnames in the account's zones that serve its gateways. */
export interface GatewayDomains {
  list(accountId: string, gatewayId: string, query: GatewayDomainQuery, page: PageRequest): Promise<Page<GatewayDomain>>;
  /** Throws `gateway_not_found` for a name of another gateway. */
  get(accountId: string, gatewayId: string, hostname: string): Promise<GatewayDomain>;
  /** Throws `gateway_input_invalid` for a name outside the account's zones, or one that already has a gateway. */
  create(call: Call, accountId: string, gatewayId: string, body: GatewayDomainCreate): Promise<GatewayDomainCreated>;
  delete(call: Call, accountId: string, gatewayId: string, hostname: string): Promise<GatewayDomain>;
}

const DOMAINS_MAX = 100;

export function createGatewayDomains(deps: ObjectDeps): GatewayDomains {
  const { store, clock } = deps;
  const load = async (db: Unit["db"], accountId: string, gatewayId: string, text: string): Promise<GatewayDomainWithZone> => {
    const row = await gatewayDomain(db, parseHostname(text) ?? "");
    if (row === undefined || row.account_id !== accountId || row.gateway_id !== gatewayId) throw new PlatformError("gateway_not_found");
    return row;
  };
  return {
    list: async (accountId, gatewayId, { status, search = "" }, page) => {
      await requireGateway(store.read, accountId, gatewayId);
      const rows = (await domainsOfGateway(store.read, accountId, gatewayId)).map(view);
      const part = search.toLowerCase();
      return pageOf(
        rows.filter((row) => (status === undefined || row.status === status) && row.hostname.includes(part)),
        page,
      );
    },
    get: async (accountId, gatewayId, hostname) => view(await load(store.read, accountId, gatewayId, hostname)),
    create: (call, accountId, gatewayId, { domain, zone_id, minTLS = "1.2" }) =>
      commit(deps, call, async (unit) => {
        await requireGateway(unit.db, accountId, gatewayId);
        const hostname = canonical(domain);
        const zone = await owningZone(unit.db, accountId, zone_id, hostname);
        await makeRoom(unit, accountId, hostname);
        if ((await domainsOfGateway(unit.db, accountId, gatewayId)).length >= DOMAINS_MAX)
          throw invalidInput("/domain", `A gateway has at most ${DOMAINS_MAX} domains.`);
        const now = isoMicros(clock.nowMicros());
        const row: GatewayDomainRow = {
          ...{ hostname, account_id: accountId, gateway_id: gatewayId, zone_id, min_tls: minTLS },
          ...{ created_at: now, modified_at: now },
        };
        await insertGatewayDomain(unit.db, row);
        if (!(await isCovered(unit.db, zone_id, hostname))) (call.notes ??= []).push(NOT_COVERED);
        audit(unit, call, "create", row);
        unit.change({ kind: "gateway_domain", id: hostname, value: domainEntry(row) });
        const { ssl_hostname_id: _, ...shown } = view({ ...row, zone_status: zone.status });
        return { ...shown, cname_target: zone.target };
      }),
    delete: (call, accountId, gatewayId, hostname) =>
      commit(deps, call, async (unit) => {
        const row = await load(unit.db, accountId, gatewayId, hostname);
        await removeDomains(unit, { hostname: row.hostname });
        audit(unit, call, "delete", row);
        return view(row);
      }),
  };
}

/** Deletes the matching domains, for example with their gateway or zone. */
export async function removeDomains(unit: Unit, which: Parameters<typeof deleteGatewayDomains>[1]): Promise<void> {
  for (const hostname of await deleteGatewayDomains(unit.db, which)) unit.change({ kind: "gateway_domain", id: hostname, value: null });
}

export const domainEntry = ({ account_id, gateway_id, zone_id, min_tls }: GatewayDomainRow): GatewayDomainEntry => ({
  account_id,
  gateway_id,
  zone_id,
  min_tls: min_tls as GatewayDomainEntry["min_tls"],
});

function canonical(text: string): string {
  const hostname = parseHostname(text);
  if (hostname === undefined) throw invalidInput("/domain", `${text} is not a valid host name: ${hostnameProblem(text)}.`);
  return hostname;
}

/** A name belongs to one gateway. Another account loses it if its zone is no longer active. */
async function makeRoom(unit: Unit, accountId: string, hostname: string): Promise<void> {
  const present = await gatewayDomain(unit.db, hostname);
  if (present === undefined) return;
  if (present.account_id === accountId || present.zone_status === "active")
    throw invalidInput("/domain", `${hostname} already belongs to a gateway.`);
  await removeDomains(unit, { hostname });
}

/** The zone owns the name unless a longer suffix of the name is a zone itself, of the same account or proved. */
async function owningZone(
  db: Unit["db"],
  accountId: string,
  zoneId: string,
  hostname: string,
): Promise<{ readonly status: string; readonly target: string }> {
  const zone = await zoneRowById(db, zoneId);
  if (zone === undefined || zone.account_id !== accountId) throw invalidInput("/zone_id", "The account has no such zone.");
  if (zone.status !== "active")
    throw invalidInput("/zone_id", `The zone ${zone.name} is ${zone.status}; the server serves its names once the zone is active.`);
  if (!isWithin(hostname, zone.name)) throw invalidInput("/domain", `${hostname} is not in the zone ${zone.name}.`);
  const labels = hostname.split(".");
  const nearer = labels.map((_, index) => labels.slice(index).join(".")).filter((name) => name.length > zone.name.length);
  if (nearer.length > 0 && (await reliedZones(db, nearer, accountId)).length > 0)
    throw invalidInput("/domain", `${hostname} is in a zone below ${zone.name}.`);
  return { status: zone.status, target: (JSON.parse(zone.name_servers) as string[])[0] ?? zone.name };
}

const NOT_COVERED =
  "No certificate of the zone covers this name, so the edge cannot serve it yet; the gateway's own port can. A zone's certificate covers names one label below the zone.";

const isCovered = async (db: Unit["db"], zoneId: string, hostname: string): Promise<boolean> =>
  (await certificatesOfZone(db, zoneId)).some(({ hosts }) =>
    (JSON.parse(hosts) as string[]).some((host) => hostnameMatches(host, hostname)),
  );

const STATUS_BY_ZONE: Readonly<Record<string, GatewayDomainStatus>> = {
  initializing: "initializing",
  pending: "pending_dcv",
  active: "active",
  moved: "blocked",
};

const view = (row: GatewayDomainWithZone): GatewayDomain => ({
  hostname: row.hostname,
  gateway_id: row.gateway_id,
  status: STATUS_BY_ZONE[row.zone_status] ?? "error",
  min_tls: row.min_tls as GatewayDomain["min_tls"],
  ssl_hostname_id: null,
  created_at: Date.parse(row.created_at),
  modified_at: Date.parse(row.modified_at),
});

function audit(unit: Unit, call: Call, verb: "create" | "delete", row: GatewayDomainRow): void {
  const { hostname, gateway_id, zone_id, min_tls } = row;
  const shown = { hostname, gateway_id, zone_id, min_tls };
  unit.audit({
    action: `gateway_domain.${verb}`,
    actor: auditActor(call),
    account_id: row.account_id,
    zone_id,
    resource: { type: "gateway_domain", id: hostname },
    before: verb === "delete" ? shown : null,
    after: verb === "create" ? shown : null,
  });
}
