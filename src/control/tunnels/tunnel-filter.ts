import type { TunnelQuery, TunnelStatus } from "#model/tunnels/tunnel.ts";
import type { ListedTunnelRow } from "#store/tunnels/tunnels.ts";

/** Whether a tunnel is in the list that was asked for. Only its last connections have known times. */
export function fitsQuery(query: TunnelQuery, row: ListedTunnelRow, status: TunnelStatus): boolean {
  const { name, uuid, include_prefix: with_, exclude_prefix: without, is_deleted: deleted } = query;
  if (name !== undefined && row.name !== name) return false;
  if (uuid !== undefined && row.id !== uuid) return false;
  if (with_ !== undefined && !row.name.startsWith(with_)) return false;
  if (without !== undefined && without !== "" && row.name.startsWith(without)) return false;
  if (deleted !== undefined && deleted !== (row.deleted_at !== null)) return false;
  if (query.status !== undefined && (query.status !== status || row.deleted_at !== null)) return false;
  const { existed_at: existed, was_active_at: active, was_inactive_at: inactive } = query;
  if (existed !== undefined && !covers(row.created_at, row.deleted_at, existed)) return false;
  if (active !== undefined && !covers(row.conns_active_at, row.conns_inactive_at, active)) return false;
  return inactive === undefined || covers(row.conns_inactive_at ?? (row.conns_active_at === null ? row.created_at : null), null, inactive);
}

/** Whether the time is in the span; an open end has not come. */
function covers(from: string | null, to: string | null, at: string): boolean {
  const ms = Date.parse(at);
  return from !== null && Date.parse(from) <= ms && (to === null || ms < Date.parse(to));
}
