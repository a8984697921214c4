import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { TunnelLink } from "#kernel/process/tunnel-link.ts";
import type { Timers } from "#kernel/timers.ts";
import type { TunnelEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { followKind } from "#snapshot/follow.ts";
import type { End, Transport } from "#wire/connections/transport/transport.ts";
import { lostStream } from "#wire/tunnel/lost-stream.ts";
import { ConnectorLink, type LinkOwner } from "./connector-link.ts";
import type { Hello } from "./hello.ts";

/** The connections of connectors to this thread. */
export interface EdgeTunnels {
  /** Takes over a secure connection whose client speaks the protocol of tunnels. */
  accept(transport: Transport, client: End): void;
  /** Whether requests of the account may be sent into the tunnel, and somebody takes them. */
  isReachable(tunnelId: string, accountId: string): boolean;
  /** A connection through the tunnel; one that fails at once if there is none. */
  dial(tunnelId: string): Transport;
  /** Tells connectors to dial elsewhere. Streams under way go on. */
  drain(): void;
  close(): void;
}

/** The port of origins behind a tunnel, whose address is the tunnel's id. */
export const TUNNEL_PORT = 0;
/** Connections of one tunnel to this thread. */
const LINKS_MAX = 32;
/** Reports leave together. */
const REPORT_AFTER_MS = 100;

export interface EdgeTunnelsDeps {
  readonly replica: Replica;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly metrics: MetricRegistry;
  /** Threads that share the port. */
  readonly threads: number;
  readonly helloTimeoutMs: number;
  /** Gets all connections whenever one has changed. */
  report(links: readonly TunnelLink[]): void;
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

export function createEdgeTunnels(deps: EdgeTunnelsDeps): EdgeTunnels {
  const { replica, sealer, clock, timers, metrics } = deps;
  const entries = new Map<string, TunnelEntry>();
  const links = new Map<string, Set<ConnectorLink>>();
  const arriving = new Set<ConnectorLink>();
  const touched = new Set<string>();
  const open = metrics.gauge("selvedge_edge_tunnel_connections", "Connections of tunnels' connectors");
  const streams = metrics.counter("selvedge_edge_tunnel_streams_total", "Connections to origins that were opened through tunnels");
  const refused = metrics.counter("selvedge_edge_tunnel_connections_refused_total", "Refused connections of tunnels' connectors");
  let reporting: NodeJS.Timeout | undefined;
  let isDraining = false;

  const all = (): ConnectorLink[] => [...links.values()].flatMap((own) => [...own]);
  const report = (): void => {
    reporting ??= setTimeout(() => {
      reporting = undefined;
      open.value = all().length;
      deps.report(all().flatMap((link) => (link.hello === null || link.session.isOver ? [] : [link.view(link.hello)])));
    }, REPORT_AFTER_MS).unref();
  };
  const knows = (id: string, entry: TunnelEntry, { account, secret }: Hello): boolean => {
    if (entry.account_id !== account) return false;
    try {
      const own = digest(sealer.open(entry.secret, `tunnel:${id}`).toString("utf8"));
      return timingSafeEqual(own, digest(secret));
    } catch {
      // Sealed with a key that this machine does not have: nobody can be let in.
      return false;
    }
  };
  /** Why an admitted connection must end; undefined if it may stay. */
  const reasonToEnd = (link: ConnectorLink, hello: Hello): string | undefined => {
    const entry = entries.get(hello.tunnel);
    if (entry === undefined) return GONE;
    if (!knows(hello.tunnel, entry, hello)) return UNKNOWN;
    const isEnded = entry.ended?.some(
      ({ at, connector }) => link.openedAt <= at && (connector ?? hello.connector.id) === hello.connector.id,
    );
    return isEnded === true ? "" : undefined;
  };
  const review = (): void => {
    for (const id of touched) {
      for (const link of links.get(id) ?? []) {
        if (link.hello === null) continue;
        const reason = reasonToEnd(link, link.hello);
        if (reason === "") link.session.destroy("");
        else if (reason !== undefined) link.refuse(reason);
        else link.configure(entries.get(id)!);
      }
    }
    touched.clear();
  };
  followKind(replica, "tunnel", {
    clear: () => {
      entries.clear();
      for (const id of links.keys()) touched.add(id);
    },
    put: (id, entry) => void (entries.set(id, entry), touched.add(id)),
    remove: (id) => void (entries.delete(id), touched.add(id)),
    changed: review,
  });

  const owner: LinkOwner = {
    clock,
    helloTimeoutMs: deps.helloTimeoutMs,
    threads: { own: randomUUID(), count: deps.threads },
    admit: (link, hello) => {
      arriving.delete(link);
      const entry = entries.get(hello.tunnel);
      const own = links.get(hello.tunnel) ?? new Set();
      const reason =
        entry === undefined || !knows(hello.tunnel, entry, hello)
          ? UNKNOWN
          : own.size >= LINKS_MAX
            ? "the tunnel has too many connections"
            : undefined;
      if (entry === undefined || reason !== undefined) {
        refused.value++;
        return reason ?? UNKNOWN;
      }
      links.set(hello.tunnel, own.add(link));
      return entry;
    },
    changed: report,
    closed: (link) => {
      arriving.delete(link);
      timers.remove(link);
      const id = link.hello?.tunnel;
      const own = id === undefined ? undefined : links.get(id);
      if (id === undefined || own === undefined || !own.delete(link)) return;
      if (own.size === 0) links.delete(id);
      report();
    },
  };
  /** The usable connection with the fewest streams. */
  const leastLoaded = (tunnelId: string): ConnectorLink | undefined => {
    let best: ConnectorLink | undefined;
    for (const link of links.get(tunnelId) ?? [])
      if (link.isUsable && (best === undefined || link.session.streams.size < best.session.streams.size)) best = link;
    return best;
  };

  return {
    accept: (transport, client) => {
      if (isDraining) return transport.destroy();
      const link = new ConnectorLink(owner, transport, client);
      arriving.add(link);
      timers.add(link);
    },
    isReachable: (tunnelId, accountId) => entries.get(tunnelId)?.account_id === accountId && leastLoaded(tunnelId) !== undefined,
    dial: (tunnelId) => {
      const link = leastLoaded(tunnelId);
      if (link === undefined) return lostStream("ENOTUNNEL");
      streams.value++;
      return link.session.open() ?? lostStream("EMFILE");
    },
    drain: () => {
      isDraining = true;
      for (const link of all()) link.announceEnd();
    },
    close: () => {
      isDraining = true;
      clearTimeout(reporting);
      for (const link of [...all(), ...arriving]) link.session.destroy("");
    },
  };
}

/** The same for a tunnel of nobody and a wrong secret. */
const UNKNOWN = "the token is not valid";
const GONE = "the tunnel was deleted";
