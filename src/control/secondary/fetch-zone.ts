import { PlatformError } from "#kernel/errors/errors.ts";
import type { Store } from "#store/database/store.ts";
import { type DnsName, formatName, parseAbsoluteName } from "#wire/dns/name.ts";
import { isSerialAfter, soaSerial } from "#wire/dns/serial.ts";
import { type Transfer, TransferError } from "#wire/dns/transfer-reader.ts";
import type { Outcomes, TransferMethod } from "./outcomes.ts";
import { planDifferences, planFull, type TransferPlan } from "./plan-transfer.ts";
import { connectPrimary, type PrimaryClientDeps, type PrimaryConnection } from "./primary-client.ts";
import type { SourcePeer, ZoneSource } from "./zone-source.ts";

/** The result of querying one peer. */
export type FetchResult = "applied" | "confirmed" | "moved";

export interface FetchDeps extends PrimaryClientDeps {
  readonly store: Store;
  readonly outcomes: Outcomes;
}

/**
 * Queries one peer for the zone's serial and transfers changes. `moved`: the zone was changed by others meanwhile. Throws
 * TransferError if the peer has nothing usable; then nothing has changed.
 */
export async function fetchZone(deps: FetchDeps, source: ZoneSource, peer: SourcePeer, signal: AbortSignal): Promise<FetchResult> {
  const zone = parseAbsoluteName(source.zone.name);
  const held = source.copy?.apex?.serial ?? null;
  const forced = source.state.forced === 1;
  const connection = await connectPrimary(deps, peer, zone, signal);
  try {
    const serial = soaSerial((await connection.soa()).rdata);
    if (held !== null && !forced) {
      if (serial === held) return await deps.outcomes.confirmed(source, peer).then(() => "confirmed" as const);
      if (!isSerialAfter(serial, held)) throw new TransferError(`its zone has the serial ${serial}, which is older than ${held}`);
    }
    const incremental = peer.ixfr && held !== null && !forced;
    const fetched = incremental
      ? await fetchIncrementally(deps, source, peer, connection, signal)
      : await fetchWhole(deps, source, connection);
    const { serial: newest } = fetched.plan.apex;
    if (held !== null && !forced && !isSerialAfter(newest, held))
      throw new TransferError(`it transferred the serial ${newest} instead of ${serial}`);
    return (await deps.outcomes.applied(source, peer, fetched.method, fetched.plan)) ? "applied" : "moved";
  } catch (error) {
    // For example, too many records: a problem of the zone, and nothing was changed.
    if (error instanceof PlatformError) throw new TransferError(error.message);
    throw error;
  } finally {
    connection.close();
  }
}

interface Fetched {
  readonly method: TransferMethod;
  readonly plan: TransferPlan;
}

/** Differences if the peer has them and they match, otherwise the whole zone over another connection. */
async function fetchIncrementally(
  deps: FetchDeps,
  source: ZoneSource,
  peer: SourcePeer,
  connection: PrimaryConnection,
  signal: AbortSignal,
): Promise<Fetched> {
  try {
    return await planned(deps, source, await connection.transfer(source.copy?.apex?.serial ?? null));
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    connection.close();
    const zone: DnsName = parseAbsoluteName(source.zone.name);
    const again = await connectPrimary(deps, peer, zone, signal);
    try {
      return await fetchWhole(deps, source, again);
    } finally {
      again.close();
    }
  }
}

const fetchWhole = async (deps: FetchDeps, source: ZoneSource, connection: PrimaryConnection): Promise<Fetched> =>
  planned(deps, source, await connection.transfer(null));

async function planned({ store }: FetchDeps, { zone, copy }: ZoneSource, transfer: Transfer): Promise<Fetched> {
  const scene = { db: store.read, zone, apex: copy?.apex ?? null };
  if (transfer.kind === "full") return { method: "AXFR", plan: await planFull(scene, transfer) };
  // Contradicts the SOA record that it has just sent.
  if (transfer.kind === "current" || !scene.apex) throw new TransferError(`it has no newer version of ${formatName(transfer.soa.name)}`);
  return { method: "IXFR", plan: await planDifferences({ ...scene, apex: scene.apex }, transfer) };
}
