export interface TunnelsTable {
  id: string;
  account_id: string;
  name: string;
  config_src: string;
  /** Base64, sealed with the context `tunnel:{id}`; empty after deletion. */
  secret: string;
  /** JSON; null before the first one. */
  config: string | null;
  config_version: number;
  config_at: string;
  /** JSON list: connections opened until then were ended. */
  ended: string;
  created_at: string;
  deleted_at: string | null;
  conns_active_at: string | null;
  conns_inactive_at: string | null;
}

/** How far control has read the events and logs of a node. */
export interface NodeEventPlacesTable {
  node: string;
  /** `rows` or `logs`. */
  source: string;
  /** Identifies the node's directory. */
  epoch: string;
  segment: number;
  at: number;
  /** The control process that has the events before the place. */
  collector: string;
}

/** A machine with planes only, from its join token on. */
export interface NodesTable {
  name: string;
  /** JSON list of plane roles. */
  planes: string;
  /** SHA-256 of the join token, hexadecimal; null once it was used. */
  token_hash: string | null;
  token_expires_ms: number;
  /** Of its user on the bus (nkey); null until it has joined. */
  public_key: string | null;
  joined_on: string | null;
  created_on: string;
  /** JSON, `NodeReport` of snapshot/bus/node-subjects.ts: the last one that was stored. */
  report: string | null;
  seen_ms: number | null;
  /** JSON list of the addresses at which its edge has visitors. */
  addresses: string;
  /** `canary`: it gets changes before nodes of the ring `all`. */
  ring: string;
  /** 1: control takes no unsigned batch of events in its name. */
  signs_events: number;
}
/** How far nodes after the canaries may follow: at most one row. */
export interface RolloutTable {
  /** 1 */
  id: number;
  history: string;
  /** Revision; -1 while no node is a canary. */
  released: number;
  /** Why nothing more is released; null while changes are. */
  paused: string | null;
  paused_on: string | null;
}
/** The keys that edges share for their visitors: at most one row. */
export interface VisitorKeysTable {
  /** 1 */
  id: number;
  /** JSON list, sealed with `VISITOR_KEYS_CONTEXT`: the one in use, the next one, the former one. */
  keys: string;
  /** Unix milliseconds; 0: revoked. */
  made_ms: number;
}
/** The addresses in answers for proxied names: at most one row. */
export interface EdgeAddressesTable {
  /** 1 */
  id: number;
  /** JSON list; null while no node has addresses. */
  addresses: string | null;
  /** Of zones that other servers transfer, those up to this id have a new serial since the last change; null: all have. */
  serials_after: string | null;
  modified_on: string;
}

export interface RevokedNodeKeysTable {
  public_key: string;
  name: string;
  revoked_on: string;
}

/** A duty that one control node has at a time. */
export interface LeasesTable {
  duty: string;
  holder: string;
  until_ms: number;
  epoch: number;
}
