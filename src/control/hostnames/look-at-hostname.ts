import type { Clock } from "#kernel/clock.ts";
import { isWithin } from "#kernel/hostname.ts";
import { canonicalIp } from "#kernel/ip.ts";
import { activeHostnames, type CustomHostnameRow } from "#store/custom-hostnames.ts";
import { fallbackOrigin } from "#store/fallback-origins.ts";
import type { Store } from "#store/store.ts";
import { type ZoneRow, zoneRowById } from "#store/zones.ts";
import type { ShowsToken } from "./fetch-token.ts";
import { isNameHeld } from "./hold.ts";
import type { HostnameDns, Looked } from "./hostname-dns.ts";
import { type HostnameFacts, judgeHostname, type Judgement } from "./judge-hostname.ts";
import { ownershipPlaces } from "./ownership.ts";

/** What a look at a custom hostname gave, and which zone here answered for it. */
export interface Seen {
  readonly judgement: Judgement;
  readonly home: { readonly zone_id: string; readonly serial: number } | null;
}

export interface LookDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly dns: HostnameDns;
  readonly showsToken: ShowsToken;
  /** Canonical addresses at which the edge is reached. */
  readonly edgeAddresses: ReadonlySet<string>;
  readonly vendorPrefix: string;
}

const CHAIN_LENGTH_MAX = 8;

/** Really looks: at the DNS, and at the hostname's own server where the DNS does not lead here. Never rejects but for the database. */
export async function lookAtHostname(deps: LookDeps, row: CustomHostnameRow, zone: ZoneRow): Promise<Seen> {
  const { store, dns, clock } = deps;
  // Asked first, so that a change while the rest is asked for is seen as one.
  const home = await dns.home(row.hostname);
  const isHeld = row.status === "pending" && (await isNameHeld(store.read, row.hostname, clock.nowMs()));
  if (isHeld) return { judgement: judgeHostname({ ...NOTHING, zoneName: zone.name, isHeld }), home };
  const places = ownershipPlaces(deps.vendorPrefix, row);
  const [chain, addresses, texts, hasOrigin, isContested] = await Promise.all([
    aliasesOf(dns, row.hostname, zone.name),
    dns.addresses(row.hostname).then(foundIn),
    Promise.all(places.textNames.map((name) => dns.txt(name))).then(together),
    row.custom_origin_server !== null || fallbackOrigin(store.read, zone.id).then((origin) => origin !== undefined),
    isActiveElsewhere(store, row, zone),
  ]);
  const facts: HostnameFacts = {
    zoneName: zone.name,
    ...chain,
    addresses,
    texts,
    httpToken: false,
    token: row.ownership_token,
    isOurs: (address) => deps.edgeAddresses.has(canonicalIp(address) ?? address),
    isContested,
    isHeld,
    hasOrigin,
  };
  const judgement = judgeHostname(facts);
  if (judgement.verdict === "valid" || !hasOrigin) return { judgement, home };
  // The edge shows tokens to everybody: only the hostname's own server proves anything.
  const others = addresses !== null && !addresses.some(facts.isOurs) ? addresses : [];
  const httpToken = others.length > 0 && (await deps.showsToken(row.hostname, others, places.httpPaths, row.ownership_token));
  return { judgement: httpToken ? judgeHostname({ ...facts, httpToken }) : judgement, home };
}

const NOTHING: Omit<HostnameFacts, "zoneName" | "isHeld"> = {
  aliases: [],
  isChainKnown: false,
  addresses: null,
  texts: null,
  httpToken: false,
  token: "",
  isOurs: () => false,
  isContested: false,
  hasOrigin: false,
};

/** Until one leads to the zone. */
async function aliasesOf(dns: HostnameDns, hostname: string, zoneName: string): Promise<Pick<HostnameFacts, "aliases" | "isChainKnown">> {
  const aliases: string[] = [];
  for (let at = hostname; aliases.length < CHAIN_LENGTH_MAX;) {
    const looked = await dns.cname(at);
    if ("failed" in looked) return { aliases, isChainKnown: false };
    const [target] = looked.found;
    if (target === undefined || aliases.includes(target)) break;
    aliases.push(target);
    if (isWithin(target, zoneName)) break;
    at = target;
  }
  return { aliases, isChainKnown: true };
}

/** One that is known suffices where it proves something; together they are known only where all are. */
function together(looked: readonly Looked[]): readonly string[] | null {
  const known = looked.flatMap((one) => foundIn(one) ?? []);
  return known.length > 0 || looked.every((one) => "found" in one) ? known : null;
}

const foundIn = (looked: Looked): readonly string[] | null => ("found" in looked ? looked.found : null);

async function isActiveElsewhere(store: Store, row: CustomHostnameRow, zone: ZoneRow): Promise<boolean> {
  for (const other of await activeHostnames(store.read, row.hostname)) {
    if (other.id === row.id) continue;
    if ((await zoneRowById(store.read, other.zone_id))?.account_id !== zone.account_id) return true;
  }
  return false;
}
