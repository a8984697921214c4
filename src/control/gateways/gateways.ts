import { type Clock, isoMicros } from "#kernel/clock.ts";
import { isReachable } from "./reachable-provider.ts";
import { checkAuthenticationStays, withAuthentication } from "./required-authentication.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { GatewayLogStore } from "#events/read/store.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import {
  type Gateway,
  type GatewayCreate,
  type GatewaySettings,
  gatewaySettings,
  type GatewayUpdate,
  type GatewayWrite,
  storedSettings,
  UNAVAILABLE_SETTINGS,
} from "#model/gateways/gateway.ts";
import { otelContext, otelView } from "#model/gateways/gateway-otel.ts";
import { storedSpendLimits } from "#model/gateways/spend-limits.ts";
import { guardrailsProblem } from "#model/gateways/guardrails.ts";
import { namedProfiles } from "#model/gateways/dlp.ts";
import { gatewayEntry, gatewayEntryId } from "#snapshot/compile/gateway-entry.ts";
import { findAccount } from "#store/access/accounts.ts";
import {
  countGateways,
  deleteGateway,
  gatewayById,
  gatewayListKey,
  type GatewayRow,
  insertGateway,
  listGateways,
  updateGateway,
} from "#store/gateways/gateways.ts";
import { listState } from "#store/queries/list-pages.ts";
import { createPages, isQuick } from "#control/pages.ts";
import { deleteGatewayObject, objectsOfGateway } from "#store/gateways/gateway-objects.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { auditChange } from "./audit-change.ts";
import { removeDomains } from "./domains.ts";
import { readLogKey } from "./log-encryption.ts";
import { requireProfiles } from "./dlp-profiles.ts";
import { storedOtel } from "./otel-endpoints.ts";
import { checkNewGateway } from "./room.ts";

export interface Gateways {
  /** Throws `gateway_input_invalid` if the account already has a gateway with the id. */
  create(call: Call, accountId: string, body: GatewayCreate): Promise<Gateway>;
  /** Creates the account's default gateway if it does not exist; its creation time is its first use. */
  ensureDefault(call: Call, accountId: string, usedMs: number): Promise<void>;
  list(accountId: string, query: { readonly search?: string }, page: PageRequest): Promise<Page<Gateway>>;
  get(accountId: string, id: string): Promise<Gateway>;
  /** Omitted settings keep their value, so that authentication is never turned off by omission. */
  update(call: Call, accountId: string, id: string, body: GatewayUpdate): Promise<Gateway>;
  /** URL of the provider through the gateway. */
  urlOf(accountId: string, id: string, provider: string): Promise<string>;
  /** Deletes the gateway and its objects, and returns the gateway. */
  delete(call: Call, accountId: string, id: string): Promise<Gateway>;
}

export interface GatewaysDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Seals the credentials of telemetry endpoints. */
  readonly sealer: Sealer;
  /** The logs of a deleted gateway are deleted too. */
  readonly logs?: Pick<GatewayLogStore, "delete">;
  /** Whether a safety model is available. */
  readonly hasGuardrailModel?: boolean;
  /** `https://gateway.example`; empty without a gateway plane. */
  readonly urlOfGateways?: () => string;
}

export function createGateways(deps: GatewaysDeps): Gateways {
  const { store, clock, sealer, hasGuardrailModel = false } = deps;
  const pages = createPages();

  const load = async (db: Unit["db"], accountId: string, id: string): Promise<GatewayRow> => {
    const row = await gatewayById(db, accountId, id);
    if (row === undefined) throw new PlatformError("gateway_not_found");
    return row;
  };

  const sealed = (
    { otel, ...body }: GatewayUpdate,
    accountId: string,
    id: string,
    before: Pick<GatewaySettings, "otel"> | null,
  ): GatewayWrite => {
    if (otel === undefined || otel === null) return { ...body, ...(otel === undefined ? {} : { otel }) };
    return { ...body, otel: storedOtel(otel, before?.otel ?? [], sealer, otelContext(accountId, id)) };
  };

  return {
    create: async (call, accountId, asked) => {
      checkAvailable(asked, hasGuardrailModel);
      const body = withAuthentication(asked, call.rules);
      return commit(deps, call, async (unit) => {
        await requireProfiles(unit.db, accountId, body.dlp ? namedProfiles(body.dlp) : []);
        await checkNewGateway(unit.db, accountId, body.id);
        const now = isoMicros(clock.nowMicros());
        const row: GatewayRow = {
          account_id: accountId,
          id: body.id,
          settings: JSON.stringify(gatewaySettings(sealed(completed(body), accountId, body.id, null), null)),
          created_at: now,
          modified_at: now,
        };
        await insertGateway(unit.db, row);
        publish(unit, call, null, row);
        return gatewayView(row);
      });
    },

    ensureDefault: (call, accountId, usedMs) =>
      commit(deps, call, async (unit) => {
        if ((await gatewayById(unit.db, accountId, DEFAULT_GATEWAY)) !== undefined) return;
        if ((await findAccount(unit.db, accountId)) === undefined) return;
        const at = isoMicros(Math.min(usedMs * 1000, clock.nowMicros()));
        const settings = JSON.stringify(gatewaySettings(DEFAULT_SETTINGS, null));
        const row: GatewayRow = { account_id: accountId, id: DEFAULT_GATEWAY, settings, created_at: at, modified_at: at };
        await insertGateway(unit.db, row);
        publish(unit, call, null, row);
      }),

    list: async (accountId, { search = "" }, page) => {
      const isWhole = search === "";
      const state = await listState(store.read, "gateways", [accountId]);
      const db = isQuick(state, isWhole) ? store.read : store.scan;
      return pages({
        list: [accountId, search],
        state,
        isWhole,
        page,
        items: (part) => listGateways(db, accountId, search, part),
        count: () => countGateways(db, accountId, search),
        keyOf: gatewayListKey,
        view: gatewayView,
      });
    },

    get: async (accountId, id) => gatewayView(await load(store.read, accountId, id)),

    urlOf: async (accountId, id, provider) => {
      await load(store.read, accountId, id);
      if (!(await isReachable(store.read, accountId, provider)))
        throw new PlatformError("gateway_input_invalid", { message: `The provider ${provider} does not exist.`, source: "/provider" });
      return `${deps.urlOfGateways?.() ?? ""}/v1/${accountId}/${id}/${provider}`;
    },

    update: async (call, accountId, id, body) => {
      checkAvailable(body, hasGuardrailModel);
      return commit(deps, call, async (unit) => {
        const before = await load(unit.db, accountId, id);
        await requireProfiles(unit.db, accountId, body.dlp ? namedProfiles(body.dlp) : []);
        const known = storedSettings(before.settings);
        checkAuthenticationStays(known.authentication, body, call.rules);
        const settings = gatewaySettings(sealed(completed(body), accountId, id, known), known);
        const row = { ...before, settings: JSON.stringify(settings), modified_at: isoMicros(clock.nowMicros()) };
        await updateGateway(unit.db, accountId, id, { settings: row.settings, modified_at: row.modified_at });
        publish(unit, call, before, row);
        return gatewayView(row);
      });
    },

    delete: async (call, accountId, id) => {
      const deleted = await commit(deps, call, async (unit) => {
        const before = await load(unit.db, accountId, id);
        await deleteKept(unit, accountId, id);
        await deleteGateway(unit.db, accountId, id);
        publish(unit, call, before, null);
        return gatewayView(before);
      });
      await deps.logs?.delete({ account_id: accountId, gateway_id: id }, ALL_LOGS);
      return deleted;
    },
  };
}

/** Created on first use (gateway/auth/default-gateways.ts). */
const DEFAULT_GATEWAY = "default";
const DEFAULT_SETTINGS: GatewayWrite = {
  authentication: true,
  cache_invalidate_on_update: false,
  cache_ttl: null,
  collect_logs: true,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};

/** Matches all logs. They are no longer accessible; rows that arrive later are older than any new gateway with the id. */
const ALL_LOGS = { filters: [], orderBy: "created_at", direction: "asc", limit: Infinity } as const;

/** Deletes domains, keys and routes of the gateway. */
async function deleteKept(unit: Unit, accountId: string, id: string): Promise<void> {
  await removeDomains(unit, { account_id: accountId, gateway_id: id });
  for (const row of await objectsOfGateway(unit.db, accountId, id)) {
    await deleteGatewayObject(unit.db, row.id);
    if (row.kind === "provider_config") unit.change({ kind: "provider_key", id: row.id, value: null });
    else if (row.kind === "route") unit.change({ kind: "gateway_route", id: row.id, value: null });
  }
}

function publish(unit: Unit, call: Call, before: GatewayRow | null, after: GatewayRow | null): void {
  auditChange(unit, call, "gateway", gatewayView, before, after);
  const row = after ?? before;
  if (row !== null) unit.change({ kind: "gateway", id: gatewayEntryId(row), value: after && gatewayEntry(after) });
}

const settingsView = ({ otel, dlp, ...settings }: GatewaySettings) => ({
  ...{ ...settings, otel: otel && otelView(otel) },
  ...(dlp === null ? {} : { dlp }),
});

const gatewayView = ({ id, account_id, settings, created_at, modified_at }: GatewayRow): Gateway => ({
  ...{ id, account_id, ...settingsView(storedSettings(settings)), stripe: null },
  ...{ is_default: id === DEFAULT_GATEWAY, created_at, modified_at },
});

/** Throws `gateway_input_invalid` if two rules have the same id. */
function completed<T extends GatewayUpdate>(body: T): T {
  if (body.spend_limits === undefined || body.spend_limits === null) return body;
  const spend_limits = storedSpendLimits(body.spend_limits);
  if (spend_limits === undefined)
    throw new PlatformError("gateway_input_invalid", { message: "Two rules have the same id.", source: "/spend_limits/rules" });
  return { ...body, spend_limits };
}

function checkAvailable(body: GatewayUpdate, hasGuardrailModel: boolean): void {
  const problem = body.guardrails ? guardrailsProblem(body.guardrails, hasGuardrailModel) : undefined;
  if (problem !== undefined) throw new PlatformError("gateway_input_invalid", problem);
  if (body.logpush_public_key && readLogKey(body.logpush_public_key) === undefined)
    throw new PlatformError("gateway_input_invalid", {
      message: "logpush_public_key must be an RSA public key of 2048 bits or more, in PEM.",
      source: "/logpush_public_key",
    });
  for (const [key, { taken, why }] of Object.entries<{ readonly taken: readonly unknown[]; readonly why: string }>(UNAVAILABLE_SETTINGS)) {
    const value = (body as Readonly<Record<string, unknown>>)[key] ?? null;
    if (value !== null && !taken.includes(value))
      throw new PlatformError("gateway_input_invalid", { message: `${key} would have no effect: ${why}.`, source: `/${key}` });
  }
}
