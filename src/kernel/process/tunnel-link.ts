/** A connection of a connector, as the edge reports it. */
export interface TunnelLink {
  readonly id: string;
  readonly tunnel_id: string;
  readonly connector_id: string;
  readonly version: string;
  readonly arch: string;
  readonly features: readonly string[];
  /** When the connector started, and when this connection was opened: ISO 8601. */
  readonly run_at: string;
  readonly opened_at: string;
  readonly address: string;
  readonly config_version: number;
  /** The connector ends: it takes no more requests over this connection. */
  readonly draining: boolean;
}
