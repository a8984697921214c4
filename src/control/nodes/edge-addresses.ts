import { type Clock, isoMicros } from "#kernel/clock.ts";
import { canonicalIp } from "#kernel/net/ip.ts";
import type { NodePlane } from "#model/access/node.ts";
import { systemCall } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { refetchZone } from "#control/dns/dnssec/apex-addresses.ts";
import type { EdgeAddressesEntry } from "#snapshot/entries.ts";
import { transferredZonesAfter } from "#store/dns/transfers.ts";
import { edgeAddressesRow, type EdgeAddressesRow, putEdgeAddresses } from "#store/nodes/edge-addresses.ts";
import { allNodes, type NodeRow } from "#store/nodes/nodes.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { createNodeHealth } from "./node-health.ts";

/** Keeps the addresses in the answers for proxied names those of healthy edges. */
export interface EdgeAddresses {
  /** Must be called about once a second. `mayWrite`: this process decides for the installation. */
  look(turn: { readonly mayWrite: boolean; readonly isDeaf: boolean }): Promise<void>;
}

export interface EdgeAddressesDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Addresses that stay in the answers, unless they are a node's. */
  readonly fixed: readonly string[];
  /** Whether the node's latest report is recent and its edge serves. */
  isWell(name: string): boolean;
  /** Called with the addresses of all nodes when they change. */
  onKnown(addresses: readonly string[]): void;
  /** Called when the answers change. */
  onChanged(addresses: readonly string[]): void;
  /** Called when no node with addresses is healthy any more. */
  onNoneHealthy(): void;
}

/** Its only entry. */
export const EDGE_ADDRESSES_ID = "edge";

const ZONES_AT_ONCE = 100;

interface EdgeNode {
  readonly name: string;
  readonly addresses: readonly string[];
}

export function createEdgeAddresses(deps: EdgeAddressesDeps): EdgeAddresses {
  const { store, clock, fixed } = deps;
  let answered: readonly string[] = [];
  let known = "";
  let isAnyHealthy = false;
  const addressesOf = new Map<string, readonly string[]>();
  const health = createNodeHealth((name) => (addressesOf.get(name) ?? []).every((address) => answered.includes(address)));

  return {
    look: async ({ mayWrite, isDeaf }) => {
      const nodes = edgesOf(await allNodes(store.read));
      const all = nodes.flatMap(({ addresses }) => addresses);
      if (all.join() !== known) deps.onKnown(all);
      known = all.join();
      const row = await edgeAddressesRow(store.read);
      const entry = entryOf(row);
      answered = entry?.addresses ?? [];
      for (const { name, addresses } of nodes) addressesOf.set(name, addresses);
      const healthy = health.look(new Map(nodes.map(({ name }) => [name, deps.isWell(name)])), clock.monotonicMs(), isDeaf);
      if (!mayWrite) return;
      const wasAnyHealthy = isAnyHealthy;
      isAnyHealthy = healthy.size > 0;
      if (wasAnyHealthy && !isAnyHealthy && nodes.length > 0) deps.onNoneHealthy();
      const wanted = nodes.length === 0 ? null : answersOf(fixed, nodes, healthy);
      if (wanted?.join() !== entry?.addresses.join()) {
        await change(deps, wanted);
        deps.onChanged(wanted ?? []);
      } else if (typeof row?.serials_after === "string") await raiseSerials(store, row.serials_after);
    },
  };
}

/** Nodes with an edge that have joined and have addresses. */
const edgesOf = (rows: readonly NodeRow[]): readonly EdgeNode[] =>
  rows
    .filter(({ planes, joined_on }) => joined_on !== null && (JSON.parse(planes) as readonly NodePlane[]).includes("edge"))
    .map(({ name, addresses }) => ({ name, addresses: JSON.parse(addresses) as string[] }))
    .filter(({ addresses }) => addresses.length > 0);

/**
 * The addresses to answer with. One that several nodes have stays while one of them is healthy. If no address of a family would be left, all of
 * that family stay: an answer without addresses helps nobody, and the judgement may be wrong.
 */
export function answersOf(fixed: readonly string[], nodes: readonly EdgeNode[], healthy: ReadonlySet<string>): readonly string[] {
  const ofNodes = new Set(nodes.flatMap(({ addresses }) => addresses));
  const good = new Set([
    ...fixed.filter((address) => !ofNodes.has(address)),
    ...nodes.filter(({ name }) => healthy.has(name)).flatMap(({ addresses }) => addresses),
  ]);
  const all = [...new Set([...fixed, ...ofNodes])];
  const isIpv6 = (address: string): boolean => address.includes(":");
  return [false, true].flatMap((family) => {
    const candidates = all.filter((address) => isIpv6(address) === family);
    const left = candidates.filter((address) => good.has(address));
    return left.length > 0 ? left : candidates;
  });
}

export const edgeAddressesEntry = async (db: Unit["db"]): Promise<EdgeAddressesEntry | null> => entryOf(await edgeAddressesRow(db));

/** Null: each nameserver answers with the addresses of its configuration. */
const entryOf = (row: EdgeAddressesRow | undefined): EdgeAddressesEntry | null =>
  typeof row?.addresses === "string" ? { addresses: JSON.parse(row.addresses) as string[] } : null;

/** A server without a bus hears of no node: its nameservers have the addresses of their configuration. */
export async function forgetEdgeAddresses(deps: Pick<EdgeAddressesDeps, "store" | "clock">): Promise<void> {
  if ((await edgeAddressesEntry(deps.store.read)) === null) return;
  await change(deps, null);
  for (let after: string | null = ""; after !== null;) after = await raiseSerials(deps.store, after);
}

/** Other servers have the addresses in their copies of zones, which they replace when the serial has changed. Returns where to continue. */
const raiseSerials = (store: Store, after: string): Promise<string | null> =>
  commit({ store }, call(), async (unit) => {
    const row = await edgeAddressesRow(unit.db);
    if (row?.serials_after !== after) return null;
    const zones = await transferredZonesAfter(unit.db, after, ZONES_AT_ONCE);
    for (const id of zones) await refetchZone(unit, call(), id);
    const serials_after = zones.length < ZONES_AT_ONCE ? null : (zones.at(-1) ?? null);
    await putEdgeAddresses(unit.db, { ...row, serials_after });
    return serials_after;
  });

async function change({ store, clock }: Pick<EdgeAddressesDeps, "store" | "clock">, addresses: readonly string[] | null): Promise<void> {
  await commit({ store }, call(), async (unit) => {
    await putEdgeAddresses(unit.db, {
      addresses: addresses && JSON.stringify(addresses),
      serials_after: "",
      modified_on: isoMicros(clock.nowMicros()),
    });
    unit.change({ kind: "edge_addresses", id: EDGE_ADDRESSES_ID, value: addresses && { addresses } });
    unit.audit({
      action: "edge_addresses.change",
      actor: auditActor(call()),
      account_id: null,
      zone_id: null,
      resource: { type: "edge_addresses", id: EDGE_ADDRESSES_ID },
      after: { addresses },
    });
  });
}

const call = () => systemCall("nodes");

export const canonicalAddresses = (addresses: readonly string[]): readonly string[] =>
  addresses.map((address) => canonicalIp(address) ?? address);

function fillWithAddresses(set: Set<string>, addresses: readonly string[]): void {
  set.clear();
  for (const address of canonicalAddresses(addresses)) set.add(address);
}

/** How control reads the known addresses, and learns those of nodes. */
export const edgeAddressMembers = (known: Set<string>, fixed: readonly string[]) => ({
  edgeAddresses: (): readonly string[] => [...known],
  knowEdgeAddresses: (ofNodes: readonly string[]): void => fillWithAddresses(known, [...fixed, ...ofNodes]),
});
