import { randomUUID } from "node:crypto";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import type {
  CustomCost,
  CustomCostCreate,
  CustomCostUpdate,
  CustomProvider,
  CustomProviderCreate,
  CustomProviderUpdate,
} from "#model/gateways/gateway-provider.ts";
import { gatewayObjectsAt, type GatewayObjectRow } from "#store/gateways/gateway-objects.ts";
import { HIDDEN } from "#model/gateways/gateway-otel.ts";
import type { Unit } from "#store/database/store.ts";
import { isSendable } from "./header-fields.ts";
import { customProviderEntry, type StoredCustomCost, type StoredCustomProvider } from "./object-entries.ts";
import { changedRow, invalidInput, loadObject, type ObjectDeps, objectRow, pageOf, valueOf, writeObject } from "./objects.ts";

/** The account's custom providers and their costs. */
export interface CustomProviders {
  list(accountId: string, query: { readonly search?: string; readonly enable?: boolean }, page: PageRequest): Promise<Page<CustomProvider>>;
  get(accountId: string, id: string): Promise<CustomProvider>;
  create(call: Call, accountId: string, body: CustomProviderCreate): Promise<CustomProvider>;
  update(call: Call, accountId: string, id: string, body: CustomProviderUpdate): Promise<CustomProvider>;
  delete(call: Call, accountId: string, id: string): Promise<CustomProvider>;
  listCosts(
    accountId: string,
    query: { readonly account_provider_id?: string; readonly search?: string },
    page: PageRequest,
  ): Promise<Page<CustomCost>>;
  getCost(accountId: string, id: string): Promise<CustomCost>;
  createCost(call: Call, accountId: string, body: CustomCostCreate): Promise<CustomCost>;
  updateCost(call: Call, accountId: string, id: string, body: CustomCostUpdate): Promise<CustomCost>;
  deleteCost(call: Call, accountId: string, id: string): Promise<CustomCost>;
}

const PROVIDERS_MAX = 100;
const COSTS_MAX = 1000;

export function createCustomProviders(deps: ObjectDeps & { readonly sealer: Sealer }): CustomProviders {
  const { store, sealer } = deps;
  const providers = (account_id: string) => ({ account_id, gateway_id: "", kind: "custom_provider", parent_id: "" }) as const;
  const costs = (account_id: string) => ({ account_id, gateway_id: "", kind: "custom_cost" }) as const;

  /** The value in its stored form. */
  const stored = (id: string, { headers, ...body }: CustomProviderCreate): StoredCustomProvider => {
    checkAddress(body.base_url);
    if (headers !== undefined && headers !== "") checkHeaders(headers);
    return { ...body, ...(headers ? { headers: sealer.seal(headers, `custom-provider:${id}`) } : {}) };
  };
  const opened = (row: GatewayObjectRow): CustomProviderCreate => {
    const { headers, ...value } = valueOf<StoredCustomProvider>(row);
    return { ...value, ...(headers === undefined ? {} : { headers: sealer.open(headers, `custom-provider:${row.id}`).toString("utf8") }) };
  };
  const viewOf = (row: GatewayObjectRow): CustomProvider => {
    const { headers, ...value } = opened(row);
    const hidden = headers === undefined ? {} : { headers: hiddenFields(headers) };
    return { id: row.id, ...value, ...hidden, created_at: row.created_at, modified_at: row.modified_at };
  };
  const audited = (row: GatewayObjectRow): object => ({ ...valueOf<object>(row), headers: undefined });

  const checkSlug = async (db: Unit["db"], accountId: string, slug: string, id: string): Promise<void> => {
    const others = await gatewayObjectsAt(db, providers(accountId));
    if (others.some((row) => row.id !== id && valueOf<StoredCustomProvider>(row).slug === slug))
      throw invalidInput("/slug", `The account already has a provider with the slug ${slug}.`);
    if (others.length >= PROVIDERS_MAX) throw invalidInput("/slug", `An account can have at most ${PROVIDERS_MAX} custom providers.`);
  };
  /** Publishes the provider's entry after a change of it or of its costs. */
  const publish = async (unit: Unit, row: GatewayObjectRow): Promise<void> => {
    const own = await gatewayObjectsAt(unit.db, { ...costs(row.account_id), parent_id: row.id });
    unit.change({ kind: "custom_provider", id: row.id, value: customProviderEntry(row, own) });
  };
  const writeCost = (
    call: Call,
    accountId: string,
    work: (unit: Unit) => Promise<{ before: GatewayObjectRow | null; after: GatewayObjectRow | null }>,
  ) =>
    commit(deps, call, async (unit) => {
      const { before, after } = await work(unit);
      const row = (after ?? before) as GatewayObjectRow;
      await writeObject(unit, { call, before, after, audited: costView });
      await publish(unit, await loadObject(unit.db, providers(accountId), row.parent_id));
      return costView(row);
    });

  return {
    list: async (accountId, { search = "", enable }, page) => {
      const rows = (await gatewayObjectsAt(store.read, providers(accountId))).map(viewOf);
      const text = search.toLowerCase();
      const found = rows.filter(
        ({ name, slug, enable: isOn = true }) =>
          (enable === undefined || isOn === enable) && `${name}\n${slug}`.toLowerCase().includes(text),
      );
      return pageOf(found, page);
    },
    get: async (accountId, id) => viewOf(await loadObject(store.read, providers(accountId), id)),
    create: (call, accountId, body) =>
      commit(deps, call, async (unit) => {
        const id = randomUUID();
        const after = objectRow(deps, providers(accountId), id, stored(id, body));
        await checkSlug(unit.db, accountId, body.slug, id);
        await writeObject(unit, { call, before: null, after, audited });
        await publish(unit, after);
        return viewOf(after);
      }),
    update: (call, accountId, id, body) =>
      commit(deps, call, async (unit) => {
        const before = await loadObject(unit.db, providers(accountId), id);
        const known = opened(before);
        checkAddress(body.base_url ?? known.base_url);
        const merged = { ...known, ...body, ...keptFields(known, body) };
        const after = changedRow(deps, before, stored(id, merged));
        await checkSlug(unit.db, accountId, merged.slug, id);
        await writeObject(unit, { call, before, after, audited });
        await publish(unit, after);
        return viewOf(after);
      }),
    delete: (call, accountId, id) =>
      commit(deps, call, async (unit) => {
        const before = await loadObject(unit.db, providers(accountId), id);
        await writeObject(unit, { call, before, after: null, audited, ops: [{ kind: "custom_provider", id, value: null }] });
        return viewOf(before);
      }),
    listCosts: async (accountId, { account_provider_id, search = "" }, page) => {
      const place = account_provider_id === undefined ? costs(accountId) : { ...costs(accountId), parent_id: account_provider_id };
      const rows = (await gatewayObjectsAt(store.read, place)).map(costView);
      return pageOf(
        rows.filter(({ model }) => model.includes(search)),
        page,
      );
    },
    getCost: async (accountId, id) => costView(await loadObject(store.read, costs(accountId), id)),
    createCost: (call, accountId, { account_provider_id: parent_id, ...body }) =>
      writeCost(call, accountId, async (unit) => {
        await loadObject(unit.db, providers(accountId), parent_id);
        if ((await gatewayObjectsAt(unit.db, costs(accountId))).length >= COSTS_MAX)
          throw invalidInput("/model", `An account can have at most ${COSTS_MAX} custom costs.`);
        return { before: null, after: objectRow(deps, { ...costs(accountId), parent_id }, randomUUID(), body) };
      }),
    updateCost: (call, accountId, id, body) =>
      writeCost(call, accountId, async (unit) => {
        const before = await loadObject(unit.db, costs(accountId), id);
        return { before, after: changedRow(deps, before, { ...valueOf<StoredCustomCost>(before), ...body }) };
      }),
    deleteCost: (call, accountId, id) =>
      writeCost(call, accountId, async (unit) => ({ before: await loadObject(unit.db, costs(accountId), id), after: null })),
  };
}

function costView(row: GatewayObjectRow): CustomCost {
  const { token_pricing, ...value } = valueOf<StoredCustomCost & { readonly cost_type?: "tokens" }>(row);
  return {
    id: row.id,
    account_provider_id: row.parent_id,
    cost_type: "tokens",
    model_rule: "equals",
    enable: true,
    ...value,
    ...(token_pricing === undefined ? {} : { token_pricing: JSON.stringify(token_pricing) }),
    created_at: row.created_at,
    modified_at: row.modified_at,
  };
}

function checkAddress(text: string): void {
  const url = URL.parse(text);
  const isFit = url !== null && (url.protocol === "https:" || url.protocol === "http:") && url.username === "" && url.password === "";
  if (!isFit || url.search !== "" || url.hash !== "")
    throw invalidInput("/base_url", "A base URL must be an http or https URL without credentials, query or fragment.");
}

type Fields = Readonly<Record<string, string>>;

/** Readers of providers see the names of the header fields, but not their values. */
const hiddenFields = (headers: string): string =>
  JSON.stringify(Object.fromEntries(Object.keys(JSON.parse(headers) as Fields).map((name) => [name, HIDDEN])));

/**
 * The fields after a change: values sent back hidden keep their stored value. Throws `gateway_input_invalid` if stored
 * values would be sent to another server: to change the address, the values must be known.
 */
function keptFields(before: CustomProviderCreate, change: CustomProviderUpdate): Pick<CustomProviderCreate, "headers"> {
  const known = JSON.parse(before.headers || "{}") as Fields;
  const given = change.headers === undefined ? known : fieldsOf(change.headers);
  const isHidden = (name: string): boolean => change.headers === undefined || given[name] === HIDDEN;
  const kept = Object.keys(given).filter(isHidden);
  const lost = kept.find((name) => known[name] === undefined);
  if (lost !== undefined) throw invalidInput("/headers", `No value of ${lost} is stored: send the value.`);
  if (kept.length > 0 && originOf(change.base_url ?? before.base_url) !== originOf(before.base_url))
    throw invalidInput("/headers", "Header values are stored for one server only: send them again when you change the server.");
  if (change.headers === undefined || change.headers === "") return {};
  return {
    headers: JSON.stringify(
      Object.fromEntries(Object.entries(given).map(([name, value]) => [name, isHidden(name) ? (known[name] ?? "") : value])),
    ),
  };
}

const originOf = (address: string): string | undefined => URL.parse(address)?.origin;

function checkHeaders(text: string): void {
  for (const [name, value] of Object.entries(fieldsOf(text)))
    if (value === HIDDEN) throw invalidInput("/headers", `No value of ${name} is stored: send the value.`);
}

function fieldsOf(text: string): Fields {
  if (text === "") return {};
  const wrong = invalidInput("/headers", "headers must be a JSON object of field names and strings; hop-by-hop fields are not allowed.");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong;
  for (const [name, field] of Object.entries(value)) if (typeof field !== "string" || !isSendable(name, field)) throw wrong;
  return value as Fields;
}
