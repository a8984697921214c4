import type { Clock } from "#kernel/clock.ts";
import { isWithin } from "#kernel/net/hostname.ts";
import { canonicalIp } from "#kernel/net/ip.ts";
import { ANY_ACCOUNT } from "#snapshot/reliance.ts";
import { activeHostnames, type CustomHostnameRow } from "#store/hostnames/custom-hostnames.ts";
import { fallbackOrigin } from "#store/hostnames/fallback-origins.ts";
import type { Store } from "#store/database/store.ts";
import { type ZoneRow, zoneRowById } from "#store/zones/zones.ts";
import type { ShowsToken } from "./fetch-token.ts";
import { isNameHeld } from "./hold.ts";
import type { HostnameDns, DnsCheckResult, NamesOfHostnames } from "#control/certificates/hostname-dns.ts";
import { type HostnameFacts, evaluateHostname, type HostnameEvaluation, VERIFICATION_ERRORS } from "./evaluate-hostname.ts";
import { ownershipLocations } from "./ownership.ts";

/** The result of checking a custom hostname, and the hosted zone that contains its name. */
export interface ProbeResult {
  readonly judgement: HostnameEvaluation;
  readonly home: { readonly zone_id: string; readonly serial: number } | null;
}

export interface ProbeDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly dns: HostnameDns;
  readonly showsToken: ShowsToken;
  /** Canonical addresses of the edge. */
  readonly edgeAddresses: ReadonlySet<string>;
  /** Whether the operator trusts the account without proofs. */
  isTrustedAccount(accountId: string): Promise<boolean>;
  readonly vendorPrefix: string;
}

const CHAIN_LENGTH_MAX = 8;

/**
 * Performs the lookups: DNS, and an HTTP request to the hostname's server if it does not point here. Rejects only if the
 * database fails.
 */
export async function probeHostname(deps: ProbeDeps, row: CustomHostnameRow, zone: ZoneRow): Promise<ProbeResult> {
  const { store, clock } = deps;
  const isActiveThere = await isActiveElsewhere(store, row, zone);
  // If another account has proved the name, the account's own zones prove nothing.
  const dns = deps.dns(isActiveThere ? ANY_ACCOUNT : zone.account_id);
  // Looked up first, so that a change during the other lookups is detected.
  const home = await dns.home(row.hostname);
  if (zone.status !== "active") return { judgement: { verdict: "waiting", errors: [VERIFICATION_ERRORS.inactive] }, home };
  const isHeld = row.status === "pending" && (await isNameHeld(store.read, row.hostname, zone.account_id, clock.nowMs()));
  if (isHeld) return { judgement: evaluateHostname({ ...NOTHING, zoneName: zone.name, isHeld }), home };
  const places = ownershipLocations(deps.vendorPrefix, row);
  const [chain, addresses, texts, hasOrigin] = await Promise.all([
    aliasesOf(dns, row.hostname, zone),
    dns.addresses(row.hostname).then(foundIn),
    Promise.all(places.textNames.map((name) => dns.txt(name))).then(together),
    row.custom_origin_server !== null || fallbackOrigin(store.read, zone.id).then((origin) => origin !== undefined),
  ]);
  const facts: HostnameFacts = {
    zoneName: zone.name,
    ...chain,
    addresses,
    texts,
    httpToken: false,
    token: row.ownership_token,
    // An active hostname stays active while its proof exists.
    countsAliases: row.status === "active" || zone.proof !== "none" || home?.account_id === zone.account_id,
    isOurs: (address) => deps.edgeAddresses.has(canonicalIp(address) ?? address),
    countsAddresses: !isActiveThere && (await countsAddresses(deps, dns, row, zone)),
    isHeld,
    hasOrigin,
    isActive: row.status === "active",
  };
  const judgement = evaluateHostname(facts);
  if (judgement.verdict === "valid" || (!hasOrigin && !facts.isActive)) return { judgement, home };
  // The edge returns tokens for all hostnames, so only the hostname's own server proves anything.
  const others = addresses !== null && !addresses.some(facts.isOurs) ? addresses : [];
  const httpToken = others.length > 0 && (await deps.showsToken(row.hostname, others, places.httpPaths, row.ownership_token));
  return { judgement: httpToken ? evaluateHostname({ ...facts, httpToken }) : judgement, home };
}

const NOTHING: Omit<HostnameFacts, "zoneName" | "isHeld"> = {
  aliases: [],
  isChainKnown: false,
  addresses: null,
  texts: null,
  httpToken: false,
  token: "",
  countsAliases: false,
  isOurs: () => false,
  countsAddresses: false,
  hasOrigin: false,
  isActive: false,
};

/**
 * All accounts share the edge's addresses: they only count for trusted accounts, and never for names in another account's
 * zone.
 */
async function countsAddresses(deps: ProbeDeps, dns: NamesOfHostnames, row: CustomHostnameRow, zone: ZoneRow): Promise<boolean> {
  const account = await dns.accountOf(row.hostname);
  if (account !== null && account !== zone.account_id) return false;
  return row.status === "active" || deps.isTrustedAccount(zone.account_id);
}

/**
 * The alias chain up to the first name in the zone. A target in another account's zone belongs to that account, even
 * below this zone, and may be an alias itself.
 */
async function aliasesOf(dns: NamesOfHostnames, hostname: string, zone: ZoneRow): Promise<Pick<HostnameFacts, "aliases" | "isChainKnown">> {
  const seen = new Set<string>();
  const aliases: string[] = [];
  for (let at = hostname; seen.size < CHAIN_LENGTH_MAX;) {
    const looked = await dns.cname(at);
    if ("failed" in looked) return { aliases, isChainKnown: false };
    const [target] = looked.found;
    if (target === undefined || seen.has(target)) break;
    seen.add(target);
    at = target;
    const account = isWithin(target, zone.name) ? await dns.accountOf(target) : null;
    if (account !== null && account !== zone.account_id) continue;
    aliases.push(target);
    if (isWithin(target, zone.name)) break;
  }
  return { aliases, isChainKnown: true };
}

/** Combines lookups: any known records are enough as a proof; without records, the result is only known if no lookup failed. */
function together(looked: readonly DnsCheckResult[]): readonly string[] | null {
  const known = looked.flatMap((one) => foundIn(one) ?? []);
  return known.length > 0 || looked.every((one) => "found" in one) ? known : null;
}

const foundIn = (looked: DnsCheckResult): readonly string[] | null => ("found" in looked ? looked.found : null);

async function isActiveElsewhere(store: Store, row: CustomHostnameRow, zone: ZoneRow): Promise<boolean> {
  for (const other of await activeHostnames(store.read, row.hostname)) {
    if (other.id === row.id) continue;
    if ((await zoneRowById(store.read, other.zone_id))?.account_id !== zone.account_id) return true;
  }
  return false;
}
