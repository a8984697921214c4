export interface GatewaysTable {
  account_id: string;
  id: string;
  /** The gateway object as JSON, without its key and times. */
  settings: string;
  created_at: string;
  modified_at: string;
}

/** Named objects that belong to a gateway. */
interface NamedTable {
  id: string;
  account_id: string;
  gateway_id: string;
  name: string;
  created_at: string;
  modified_at: string;
}

export interface GatewayDatasetsTable extends NamedTable {
  enable: number;
  /** JSON. */
  filters: string;
}

export interface GatewayEvaluationsTable extends NamedTable {
  /** JSON of the datasets at that time. */
  datasets: string;
  /** JSON. */
  results: string;
  total_logs: number;
}

export interface GatewayObjectsTable {
  id: string;
  account_id: string;
  /** Empty if the object belongs to the account alone. */
  gateway_id: string;
  kind: string;
  /** The provider of a cost, the route of a version or deployment; otherwise empty. */
  parent_id: string;
  /** JSON. */
  value: string;
  created_at: string;
  modified_at: string;
}

export interface GatewayDomainsTable {
  /** Canonical. */
  hostname: string;
  account_id: string;
  gateway_id: string;
  /** The zone that contains the name. */
  zone_id: string;
  min_tls: string;
  created_at: string;
  modified_at: string;
}

/** Logs of gateways, and changes of them, on their way to all servers with control. */
export interface SharedLogsTable {
  /** In the order of commits. */
  seq: number;
  /** JSON, `SharedLogHead` of control/gateways/shared-logs.ts. */
  head: string;
  /** Sealed with `SHARED_LOGS_CONTEXT`; empty for changes without one. */
  body: string;
  /** Length of head and body. */
  bytes: number;
}

/** The number of the newest entry: one row. */
export interface SharedLogEndTable {
  /** 1 */
  id: number;
  seq: number;
}

/** A server with control, and how far it has read. */
export interface SharedLogReadersTable {
  server: string;
  seq: number;
  /** Since when it has had all entries, in Unix milliseconds. */
  since_ms: number;
  seen_ms: number;
}
