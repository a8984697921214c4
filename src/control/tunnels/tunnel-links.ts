import type { TunnelLink } from "#kernel/process/tunnel-link.ts";

/** The connections of tunnels that threads and nodes have reported. */
export interface TunnelLinks {
  /** Replaces what the source has reported before. Returns the tunnels that have connections now, or no longer. */
  report(source: string, links: readonly TunnelLink[]): { readonly opened: readonly string[]; readonly closed: readonly string[] };
  /** Oldest first. */
  of(tunnelId: string): readonly TunnelLink[];
}

export function createTunnelLinks(): TunnelLinks {
  const reported = new Map<string, readonly TunnelLink[]>();
  let byTunnel: ReadonlyMap<string, readonly TunnelLink[]> = new Map();
  return {
    report: (source, links) => {
      const before = byTunnel;
      if (links.length === 0) reported.delete(source);
      else reported.set(source, links);
      byTunnel = Map.groupBy([...reported.values()].flat(), ({ tunnel_id }) => tunnel_id);
      return {
        opened: [...byTunnel.keys()].filter((id) => !before.has(id)),
        closed: [...before.keys()].filter((id) => !byTunnel.has(id)),
      };
    },
    of: (tunnelId) => (byTunnel.get(tunnelId) ?? []).toSorted((a, b) => (a.opened_at < b.opened_at ? -1 : 1)),
  };
}
