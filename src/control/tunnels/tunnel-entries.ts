import type { Op, TunnelEntry } from "#snapshot/entries.ts";
import type { IngressConfig } from "#model/tunnels/ingress.ts";
import type { Unit } from "#store/database/store.ts";
import { livingTunnels, type TunnelRow } from "#store/tunnels/tunnels.ts";

export type EndedConnections = NonNullable<TunnelEntry["ended"]>;

export const tunnelEntry = (row: TunnelRow): TunnelEntry => {
  const ended = JSON.parse(row.ended) as EndedConnections;
  return {
    account_id: row.account_id,
    name: row.name,
    config_src: row.config_src as TunnelEntry["config_src"],
    secret: row.secret,
    ...(row.config === null ? {} : { config: { version: row.config_version, rules: JSON.parse(row.config) as IngressConfig } }),
    ...(ended.length === 0 ? {} : { ended }),
  };
};

/** Entries of all tunnels. */
export const tunnelOps = async (db: Unit["db"]): Promise<Op[]> =>
  (await livingTunnels(db)).map((row): Op => ({ kind: "tunnel", id: row.id, value: tunnelEntry(row) }));
