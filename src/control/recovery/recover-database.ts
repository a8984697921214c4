import type { EntryKind, PurgeEntry } from "#snapshot/entries.ts";
import type { Position } from "#snapshot/feed.ts";
import { streamSnapshot } from "#control/rebuild.ts";
import { continueFrom } from "#store/database/history.ts";
import { isoMicros } from "#kernel/clock.ts";
import { putEdgeAddresses } from "#store/nodes/edge-addresses.ts";
import { putVisitorKeys } from "#store/nodes/visitor-keys.ts";
import { putCoreRules } from "#store/rulesets/core-rules.ts";
import { putPurges } from "#store/zones/cache-purges.ts";
import { recoverAccounts, type RecoveredOwner, recoverTokens } from "./recovered-access.ts";
import { recoverDnssec } from "./recovered-dnssec.ts";
import {
  recoverCustomProviders,
  recoverDlpProfiles,
  recoverGatewayDomains,
  recoverGateways,
  recoverProviderKeys,
  recoverRoutes,
} from "./recovered-gateways.ts";
import { recoverCertificates, recoverFallbackOrigins, recoverHostnames } from "./recovered-names.ts";
import { recoverDetection, recoverLists, recoverRulesets } from "./recovered-rules.ts";
import { recoverTunnels } from "./recovered-tunnels.ts";
import { recoverTransfers } from "./recovered-transfers.ts";
import { recoverRecords, recoverZones } from "./recovered-zones.ts";
import { each, type Recover, type RecoveryDeps } from "./recovery.ts";

/** The entries of one kind: before, and again. */
export interface RecoveredKind {
  readonly kind: EntryKind;
  /** For people. */
  readonly what: string;
  /** How many the copy has, and how many of them the new database gives to planes as they were. */
  readonly held: number;
  readonly recovered: number;
}

/** Entries of objects owned by others, or of work in progress: they are not restored by themselves. */
const NOTHING: Recover = async () => {};

/**
 * How rows are made of each kind of entry, in the order in which rows refer to each other. The type makes a kind of entry without
 * a row an error.
 */
const RECOVERIES: { readonly [K in EntryKind]: { readonly what: string; readonly recover: Recover } } = {
  zone: { what: "zones", recover: recoverZones },
  serial: { what: "serials", recover: NOTHING },
  record: { what: "DNS records", recover: recoverRecords },
  staged: { what: "imports under way", recover: NOTHING },
  release: { what: "imports under way", recover: NOTHING },
  dnssec: { what: "DNSSEC keys", recover: recoverDnssec },
  transfer: { what: "zone transfers", recover: recoverTransfers },
  list: { what: "parts of lists", recover: recoverLists },
  ruleset: { what: "rulesets", recover: recoverRulesets },
  custom_hostname: { what: "custom hostnames", recover: recoverHostnames },
  certificate: { what: "certificates", recover: recoverCertificates },
  fallback_origin: { what: "fallback origins", recover: recoverFallbackOrigins },
  acme_challenge: { what: "certificate validations under way", recover: NOTHING },
  purge: {
    what: "cache purges",
    recover: each("purge", ({ db }, zone_id, value: PurgeEntry) => putPurges(db, { zone_id, value: JSON.stringify(value) })),
  },
  detection: { what: "owners' sensitive data", recover: recoverDetection },
  gateway: { what: "gateways", recover: recoverGateways },
  gateway_domain: { what: "gateway domains", recover: recoverGatewayDomains },
  provider_key: { what: "provider keys", recover: recoverProviderKeys },
  custom_provider: { what: "custom providers", recover: recoverCustomProviders },
  gateway_route: { what: "gateway routes", recover: recoverRoutes },
  dlp_profile: { what: "DLP profiles", recover: recoverDlpProfiles },
  tunnel: { what: "tunnels", recover: recoverTunnels },
  token: { what: "gateway tokens", recover: recoverTokens },
  core_rules: {
    what: "Core Rule Sets",
    recover: each("core_rules", ({ db }, _id, entry, { clock }) =>
      putCoreRules(db, { ...entry, modified_on: isoMicros(clock.nowMicros()) }),
    ),
  },
  edge_addresses: {
    what: "sets of the edges' addresses",
    recover: each("edge_addresses", ({ db }, _id, { addresses }, { clock }) =>
      putEdgeAddresses(db, { addresses: JSON.stringify(addresses), serials_after: "", modified_on: isoMicros(clock.nowMicros()) }),
    ),
  },
  visitor_keys: {
    what: "sets of the keys that edges share",
    recover: each("visitor_keys", ({ db }, _id, { keys }, { clock }) =>
      putVisitorKeys(db, { keys: JSON.stringify(keys), made_ms: clock.nowMs() }),
    ),
  },
};

const KINDS = Object.keys(RECOVERIES) as EntryKind[];

/**
 * Writes the content of a snapshot into an empty database, so that planes get the same entries from it, and starts a
 * new history of the snapshot's installation. Returns the number of restored objects by kind, without empty kinds.
 */
export async function recoverDatabase(deps: RecoveryDeps, owner: RecoveredOwner, at: Position): Promise<readonly RecoveredKind[]> {
  await recoverAccounts(deps, owner);
  for (const kind of KINDS) await RECOVERIES[kind].recover(deps);
  const kinds = await compared(deps);
  await deps.store.write(async (unit) => {
    await continueFrom(unit.db, at);
    unit.audit({
      action: "installation.recover",
      actor: { type: "system", id: "cli", ip: "" },
      account_id: null,
      zone_id: null,
      resource: { type: "installation", id: at.history },
    });
  });
  await deps.store.renewHistory();
  return kinds;
}

/** Planes would be given this by the new database. */
async function compared({ store, snapshot }: RecoveryDeps): Promise<readonly RecoveredKind[]> {
  const same = new Map<EntryKind, number>();
  await streamSnapshot(store, async (_at, pages) => {
    for await (const page of pages)
      for (const { kind, id, value } of page)
        if (canonical(value) === canonical(snapshot.get(kind, id))) same.set(kind, (same.get(kind) ?? 0) + 1);
  });
  return KINDS.flatMap((kind): RecoveredKind[] => {
    let held = 0;
    for (const _ of kind === "staged" ? snapshot.staged() : snapshot.entries(kind)) held++;
    return held === 0 ? [] : [{ kind, what: RECOVERIES[kind].what, held, recovered: same.get(kind) ?? 0 }];
  });
}

/** JSON with sorted keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? "";
