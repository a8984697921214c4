import { insertTunnel } from "#store/tunnels/tunnels.ts";
import { each, timeOf } from "./recovery.ts";

/** Tunnels with their secret and the configuration in force. */
export const recoverTunnels = each("tunnel", async ({ db }, id, entry, deps) => {
  const now = timeOf(deps);
  await insertTunnel(db, {
    ...{ id, account_id: entry.account_id, name: entry.name, config_src: entry.config_src, secret: entry.secret },
    config: entry.config === undefined ? null : JSON.stringify(entry.config.rules),
    ...{ config_version: entry.config?.version ?? 0, config_at: now, ended: JSON.stringify(entry.ended ?? []), created_at: now },
    ...{ deleted_at: null, conns_active_at: null, conns_inactive_at: null },
  });
});
