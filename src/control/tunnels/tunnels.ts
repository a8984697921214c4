import { randomBytes, randomUUID } from "node:crypto";
import { type Call, type Page, type PageRequest, systemCall } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { TunnelLink } from "#kernel/process/tunnel-link.ts";
import { compileIngress, IngressError } from "#model/tunnels/ingress-rules.ts";
import type { IngressConfig } from "#model/tunnels/ingress.ts";
import type {
  Tunnel,
  TunnelConfiguration,
  TunnelConfigurationWrite,
  TunnelConnector,
  TunnelCreate,
  TunnelEdit,
  TunnelQuery,
} from "#model/tunnels/tunnel.ts";
import { lockAccount } from "#store/access/accounts.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { forgetTunnel, insertTunnel, tunnelRow, type TunnelRow, tunnelsOfAccount, updateTunnel } from "#store/tunnels/tunnels.ts";
import { type EndedConnections, tunnelEntry } from "./tunnel-entries.ts";
import { fitsQuery } from "./tunnel-filter.ts";
import { createTunnelLinks } from "./tunnel-links.ts";
import { configurationView, connectorViews, tunnelView } from "./tunnel-view.ts";

/** An account's tunnels. Methods that take an id throw `tunnel_not_found`. */
export interface Tunnels {
  list(accountId: string, query: TunnelQuery, page: PageRequest): Promise<Page<Tunnel>>;
  get(accountId: string, id: string): Promise<Tunnel>;
  /** Throws `tunnel_exists` for a name that another tunnel has, and `tunnel_invalid`. */
  create(call: Call, accountId: string, body: TunnelCreate): Promise<Tunnel>;
  /** A new secret ends the connections that were opened with the old one. */
  edit(call: Call, accountId: string, id: string, body: TunnelEdit): Promise<Tunnel>;
  /** Throws `tunnel_connected` while it has connections, unless they are to end with it. */
  remove(call: Call, accountId: string, id: string, cascade: boolean): Promise<Tunnel>;
  /** The token with which a connector dials in. */
  token(accountId: string, id: string): Promise<string>;
  configuration(accountId: string, id: string): Promise<TunnelConfiguration>;
  configure(call: Call, accountId: string, id: string, body: TunnelConfigurationWrite): Promise<TunnelConfiguration>;
  connectors(accountId: string, id: string): Promise<readonly TunnelConnector[]>;
  connector(accountId: string, id: string, connectorId: string): Promise<TunnelConnector>;
  /** Ends the connections of a connector, or all. Connectors that run dial again. */
  disconnect(call: Call, accountId: string, id: string, connectorId: string | undefined): Promise<null>;
  /** Takes the open connections of a thread or a node, instead of what it has reported before. */
  report(source: string, links: readonly TunnelLink[]): Promise<void>;
}

const TUNNELS_MAX = 1000;
const DELETED_MAX = 1000;
const SECRET_BYTES_MIN = 32;
const CONFIG_CHARACTERS_MAX = 65_536;
/** Older marks belong to connections that have long ended. */
const ENDED_MAX = 16;

export interface TunnelsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly endpoint: TunnelEndpoint;
}

/**
 * Where connectors dial, as parts of their token: the edge's host and port, and the authority that its certificate must come
 * from (base64 of DER), so that a token suffices.
 */
export type TunnelEndpoint = () => { readonly e: string; readonly c?: string };

export function createTunnels(deps: TunnelsDeps): Tunnels {
  const { store, clock, sealer } = deps;
  const links = createTunnelLinks();
  const now = (): string => isoMicros(clock.nowMicros());
  const sealed = (id: string, secret: string | undefined): string =>
    sealer.seal(secret === undefined ? randomBytes(SECRET_BYTES_MIN).toString("base64") : checkedSecret(secret), `tunnel:${id}`);
  const view = (row: TunnelRow): Tunnel => tunnelView(row, links.of(row.id));
  const load = async (db: Unit["db"], accountId: string, id: string): Promise<TunnelRow> => {
    const row = await tunnelRow(db, accountId, id);
    if (row === undefined) throw new PlatformError("tunnel_not_found");
    return row;
  };
  const loadLiving = async (db: Unit["db"], accountId: string, id: string): Promise<TunnelRow> => {
    const row = await load(db, accountId, id);
    if (row.deleted_at !== null) throw new PlatformError("tunnel_not_found", { message: "The tunnel was deleted." });
    return row;
  };
  /** Writes a change with its audit row, and publishes it. */
  const change = async (unit: Unit, call: Call, verb: string, before: TunnelRow, changes: Partial<TunnelRow>): Promise<TunnelRow> => {
    const after: TunnelRow = { ...before, ...changes };
    await updateTunnel(unit.db, before.id, changes);
    audit(unit, call, verb, before, after);
    unit.change({ kind: "tunnel", id: before.id, value: after.deleted_at === null ? tunnelEntry(after) : null });
    return after;
  };
  const changed = (
    call: Call,
    accountId: string,
    id: string,
    verb: string,
    changesOf: (row: TunnelRow, unit: Unit) => Promise<Partial<TunnelRow>> | Partial<TunnelRow>,
  ): Promise<TunnelRow> =>
    commit(deps, call, async (unit) => {
      const before = await loadLiving(unit.db, accountId, id);
      return change(unit, call, verb, before, await changesOf(before, unit));
    });

  return {
    list: async (accountId, query, { page, per_page }) => {
      const found = (await tunnelsOfAccount(store.read, accountId))
        .map((row) => ({ row, shown: tunnelView(row, links.of(row.id)) }))
        .filter(({ row, shown }) => fitsQuery(query, row, shown.status))
        .map(({ shown }) => shown);
      return { items: found.slice((page - 1) * per_page, page * per_page), page, per_page, total_count: found.length };
    },
    get: async (accountId, id) => view(await load(store.read, accountId, id)),
    create: async (call, accountId, { name, config_src = "local", tunnel_secret }) => {
      const row = await commit(deps, call, async (unit) => {
        await lockAccount(unit.db, accountId);
        await checkName(unit, accountId, name);
        const id = randomUUID();
        const at = now();
        const made: TunnelRow = {
          ...{ id, account_id: accountId, name, config_src, secret: sealed(id, tunnel_secret) },
          ...{ config: null, config_version: 0, config_at: at, ended: "[]", created_at: at },
          ...{ deleted_at: null, conns_active_at: null, conns_inactive_at: null },
        };
        await insertTunnel(unit.db, made);
        audit(unit, call, "create", null, made);
        unit.change({ kind: "tunnel", id, value: tunnelEntry(made) });
        return made;
      });
      return view(row);
    },
    edit: async (call, accountId, id, { name, tunnel_secret: secret }) =>
      view(
        await changed(call, accountId, id, "update", async (before, unit) => {
          await lockAccount(unit.db, accountId);
          if (name !== undefined && name !== before.name) await checkName(unit, accountId, name);
          return { name: name ?? before.name, ...(secret === undefined ? {} : { secret: sealed(id, secret) }) };
        }),
      ),
    remove: async (call, accountId, id, cascade) => {
      const row = await changed(call, accountId, id, "delete", async (_, unit) => {
        if (!cascade && links.of(id).length > 0) throw new PlatformError("tunnel_connected");
        const deleted = (await tunnelsOfAccount(unit.db, accountId)).filter(({ deleted_at: at }) => at !== null);
        // few: more than the limit only by what this call adds
        for (const { id: oldest } of deleted.slice(DELETED_MAX - 1)) await forgetTunnel(unit.db, oldest);
        return { deleted_at: now(), secret: "", config: null };
      });
      return tunnelView(row, []);
    },
    token: async (accountId, id) => {
      const row = await loadLiving(store.read, accountId, id);
      const secret = sealer.open(row.secret, `tunnel:${id}`).toString("utf8");
      const parts = { a: accountId, t: id, s: secret, ...deps.endpoint() };
      return Buffer.from(JSON.stringify(parts)).toString("base64");
    },
    configuration: async (accountId, id) => configurationView(await loadLiving(store.read, accountId, id)),
    configure: async (call, accountId, id, { config }) => {
      const text = checkedConfig(config);
      const row = await changed(call, accountId, id, "configure", ({ config_version: version }) => ({
        // A tunnel takes its rules from where they were last written.
        ...{ config: text, config_version: version + 1, config_at: now(), config_src: "cloudflare" },
      }));
      return configurationView(row);
    },
    connectors: async (accountId, id) => {
      await load(store.read, accountId, id);
      return connectorViews(links.of(id));
    },
    connector: async (accountId, id, connectorId) => {
      await load(store.read, accountId, id);
      const found = connectorViews(links.of(id)).find((connector) => connector.id === connectorId);
      if (found === undefined)
        throw new PlatformError("tunnel_not_found", { message: "The tunnel has no connector with this identifier." });
      return found;
    },
    disconnect: async (call, accountId, id, connector) => {
      await changed(call, accountId, id, "disconnect", ({ ended }) => {
        const marks = [...(JSON.parse(ended) as EndedConnections), { at: now(), ...(connector === undefined ? {} : { connector }) }];
        return { ended: JSON.stringify(marks.slice(-ENDED_MAX)) };
      });
      return null;
    },
    report: async (source, reported) => {
      const { opened, closed } = links.report(source, reported);
      if (opened.length + closed.length === 0) return;
      const at = now();
      await commit(deps, systemCall("tunnels"), async ({ db }) => {
        // few: connections that opened or closed since the last report
        for (const id of opened) await updateTunnel(db, id, { conns_active_at: at, conns_inactive_at: null });
        for (const id of closed) await updateTunnel(db, id, { conns_inactive_at: at });
      });
    },
  };
}

const invalid = (source: string, message: string): PlatformError => new PlatformError("tunnel_invalid", { message, source });

async function checkName(unit: Unit, accountId: string, name: string): Promise<void> {
  const living = (await tunnelsOfAccount(unit.db, accountId)).filter(({ deleted_at: at }) => at === null);
  if (living.some((row) => row.name === name)) throw new PlatformError("tunnel_exists", { source: "/name" });
  if (living.length >= TUNNELS_MAX) throw invalid("", `An account has at most ${TUNNELS_MAX} tunnels.`);
}

function checkedSecret(secret: string): string {
  const bytes = Buffer.from(secret, "base64");
  if (bytes.length < SECRET_BYTES_MIN || bytes.toString("base64").replaceAll("=", "") !== secret.replaceAll("=", ""))
    throw invalid("/tunnel_secret", `tunnel_secret must be base64 of at least ${SECRET_BYTES_MIN} bytes.`);
  return bytes.toString("base64");
}

function checkedConfig(config: IngressConfig): string {
  try {
    compileIngress(config);
  } catch (error) {
    if (error instanceof IngressError) throw invalid(error.source, error.message);
    throw error;
  }
  const text = JSON.stringify(config);
  if (text.length > CONFIG_CHARACTERS_MAX) throw invalid("/config", `A configuration has at most ${CONFIG_CHARACTERS_MAX} characters.`);
  return text;
}

/** The secret only shows as a change. */
const audited = ({ id, name, config_src, config, config_version, deleted_at }: TunnelRow): object => ({
  ...{ id, name, config_src, config_version, deleted_at },
  config: config === null ? null : (JSON.parse(config) as IngressConfig),
});

function audit(unit: Unit, call: Call, verb: string, before: TunnelRow | null, after: TunnelRow): void {
  unit.audit({
    action: `tunnel.${verb}`,
    actor: auditActor(call),
    account_id: after.account_id,
    zone_id: null,
    resource: { type: "tunnel", id: after.id },
    before: before && audited(before),
    after:
      verb === "delete"
        ? null
        : { ...audited(after), ...(before !== null && before.secret !== after.secret ? { secret_changed: true } : {}) },
  });
}
