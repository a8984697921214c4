import { setTimeout as sleep } from "node:timers/promises";
import { transferEntries } from "#control/transfers/entries.ts";
import type { AddressPolicy } from "#kernel/net/address-policy.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Delta, TransferPeerEntry } from "#snapshot/entries.ts";
import { openTsigKey } from "#snapshot/tsig-key.ts";
import type { Store } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { RCODE } from "#wire/dns/codes.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { createNotifyQueue } from "./notify-queue.ts";
import type { NotifySocket } from "./notify-socket.ts";

/** Notifies the peers of zones with outgoing transfers of every change, once it can be transferred (RFC 1996). */
export interface NotifySender {
  /** Notifies the peers of all zones, because notices may have been lost in the last shutdown. */
  start(): Promise<void>;
  /** Call with every delta, in order; null if some are missing. */
  published(delta: Delta | null): void;
  close(): void;
}

export interface NotifySenderDeps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly socket: NotifySocket;
  readonly metrics: MetricRegistry;
  /** Peers elsewhere get no message, because any account can enter any address. */
  readonly isAllowed: AddressPolicy;
  /** Resolves when the local nameservers have applied the revision, or after the time. */
  settled(rev: number, timeoutMs: number): Promise<unknown>;
  log(level: "info" | "warn", message: string, fields: Readonly<Record<string, unknown>>): void;
}

interface Notice {
  readonly zoneId: string;
  readonly peer: TransferPeerEntry;
}

/** Maximum wait for the nameservers; if they are further behind, the peer would only see the old serial. */
const SETTLE_LIMIT_MS = 5_000;

/** Statuses of zones that may be transferred. */
const HANDED_OUT: ReadonlySet<string> = new Set(["active", "moved"]);

export function createNotifySender(deps: NotifySenderDeps): NotifySender {
  const { store, settled, log, socket, metrics } = deps;
  /** Peers of every zone that has or had some. */
  const peersOf = new Map<string, readonly TransferPeerEntry[]>();
  const heard = (result: "acknowledged" | "refused" | "unanswered" | "forbidden") =>
    metrics.counter("selvedge_dns_notify_total", "NOTIFY messages to other servers about a zone's changes", { result });

  const notices = createNotifyQueue<Notice>({
    tell: async ({ zoneId, peer }, timeoutMs) => {
      const zone = await zoneRowById(store.read, zoneId);
      const key = peer.tsig && openTsigKey(peer.tsig, deps.sealer);
      // The zone was deleted or is not proved, or its key cannot be decrypted.
      if (!zone || !HANDED_OUT.has(zone.status) || key === undefined) return true;
      if (!deps.isAllowed(peer.ip, peer.port)) {
        heard("forbidden").value += 1;
        log("warn", "a peer gets no NOTIFY messages, because its address is outside of the Internet and dns.primary_allow", {
          zone: zone.name,
          peer: peer.ip,
        });
        return true;
      }
      const to = { address: peer.ip, port: peer.port, key: key ?? undefined };
      const rcode = await socket.notify(parseAbsoluteName(zone.name), to, timeoutMs);
      if (rcode === null) return false;
      heard(rcode === RCODE.NOERROR ? "acknowledged" : "refused").value += 1;
      if (rcode !== RCODE.NOERROR) log("warn", "a peer refused a NOTIFY message for a zone", { zone: zone.name, peer: peer.ip, rcode });
      return true;
    },
    gaveUp: ({ zoneId, peer }) => {
      heard("unanswered").value += 1;
      log("warn", "a peer did not respond to a NOTIFY message for a zone", { zone_id: zoneId, peer: peer.ip, port: peer.port });
    },
    sleep: async (ms, signal) => {
      await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
    },
  });
  const tell = (zoneId: string): void => {
    for (const peer of peersOf.get(zoneId) ?? []) {
      if (peer.ip !== "") notices.give(`${zoneId} ${peer.ip} ${peer.port}`, { zoneId, peer });
    }
  };

  const start = async (): Promise<void> => {
    // A delta may have arrived meanwhile, and is newer.
    for (const [zoneId, { outgoing }] of await transferEntries(store.read, null))
      if (!peersOf.has(zoneId)) peersOf.set(zoneId, outgoing?.peers ?? []);
    for (const zoneId of peersOf.keys()) tell(zoneId);
  };
  const startOver = (): void => {
    peersOf.clear();
    start().catch((error: unknown) => log("warn", "could not notify the peers of zones", { reason: String(error) }));
  };

  return {
    start,
    published: (delta) => {
      if (delta === null) return startOver();
      const news = new Set<string>();
      for (const op of delta.ops) {
        if (op.kind === "transfer") peersOf.set(op.id, op.value?.outgoing?.peers ?? []);
        if ((op.kind === "serial" || op.kind === "transfer") && peersOf.has(op.id)) news.add(op.id);
      }
      if (news.size > 0) void settled(delta.rev, SETTLE_LIMIT_MS).then(() => news.forEach(tell));
    },
    close: () => {
      notices.close();
      socket.close();
    },
  };
}
