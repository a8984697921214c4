import { type Call, type Page, type PageRequest } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { filtersSql } from "#events/logs/filters.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { GatewayDataset, GatewayDatasetWrite, NamedList } from "#model/gateways/gateway-dataset.ts";
import {
  deleteNamed,
  type GatewayDatasetRow,
  type GatewayKey,
  insertDataset,
  listNamed,
  namedById,
  updateDataset,
} from "#store/gateways/gateway-datasets.ts";
import { gatewayById, type GatewayRow } from "#store/gateways/gateways.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { auditChange } from "./audit-change.ts";
import { withLogFilters } from "./log-filters.ts";
import { checkRoom } from "./room.ts";

/** Datasets of a gateway. Throws `gateway_not_found` for an unknown gateway or dataset, also if it belongs to another account. */
export interface GatewayDatasets {
  list(key: GatewayKey, query: NamedList, page: PageRequest): Promise<Page<GatewayDataset>>;
  get(key: GatewayKey, id: string): Promise<GatewayDataset>;
  create(call: Call, key: GatewayKey, body: GatewayDatasetWrite): Promise<GatewayDataset>;
  update(call: Call, key: GatewayKey, id: string, body: GatewayDatasetWrite): Promise<GatewayDataset>;
  /** Returns the deleted dataset. */
  delete(call: Call, key: GatewayKey, id: string): Promise<GatewayDataset>;
}

export function createGatewayDatasets(deps: { readonly store: Store; readonly clock: Clock }): GatewayDatasets {
  const { store, clock } = deps;
  const now = (): string => isoMicros(clock.nowMicros());
  const load = async (db: Unit["db"], key: GatewayKey, id: string): Promise<GatewayDatasetRow> => {
    const row = await namedById(db, "gateway_datasets", key, id);
    if (row === undefined) throw new PlatformError("gateway_not_found", { message: "The gateway has no such dataset." });
    return row;
  };

  return {
    list: async (key, query, { page, per_page }) => {
      await checkGateway(store.read, key);
      const { items, total } = await listNamed(store.read, "gateway_datasets", key, namedPage(query, { page, per_page }));
      return { items: items.map(datasetView), page, per_page, total_count: total };
    },
    get: async (key, id) => datasetView(await load(store.read, key, id)),
    create: (call, key, body) =>
      commit(deps, call, async (unit) => {
        await checkGateway(unit.db, key);
        await checkRoom(unit.db, "datasets", key);
        const row = { id: newId(), ...key, ...columnsOf(body), created_at: now(), modified_at: now() };
        await insertDataset(unit.db, row);
        auditChange(unit, call, "gateway_dataset", datasetView, null, row);
        return datasetView(row);
      }),
    update: (call, key, id, body) =>
      commit(deps, call, async (unit) => {
        const before = await load(unit.db, key, id);
        const row = { ...before, ...columnsOf(body), modified_at: now() };
        await updateDataset(unit.db, row);
        auditChange(unit, call, "gateway_dataset", datasetView, before, row);
        return datasetView(row);
      }),
    delete: (call, key, id) =>
      commit(deps, call, async (unit) => {
        const before = await load(unit.db, key, id);
        await deleteNamed(unit.db, "gateway_datasets", id);
        auditChange(unit, call, "gateway_dataset", datasetView, before, null);
        return datasetView(before);
      }),
  };
}

export async function checkGateway(db: Unit["db"], { account_id, gateway_id }: GatewayKey): Promise<GatewayRow> {
  const row = await gatewayById(db, account_id, gateway_id);
  if (row === undefined) throw new PlatformError("gateway_not_found");
  return row;
}

export const namedPage = ({ name = "", search = "" }: NamedList, { page, per_page }: PageRequest) => ({
  name,
  search,
  limit: per_page,
  offset: (page - 1) * per_page,
});

function columnsOf({ name, enable, filters }: GatewayDatasetWrite): Pick<GatewayDatasetRow, "name" | "enable" | "filters"> {
  withLogFilters(() => filtersSql(filters));
  return { name, enable: enable ? 1 : 0, filters: JSON.stringify(filters) };
}

export const datasetView = ({ account_id, enable, filters, ...row }: GatewayDatasetRow): GatewayDataset => ({
  ...row,
  account_id,
  account_tag: account_id,
  enable: enable === 1,
  filters: JSON.parse(filters) as GatewayDataset["filters"],
});
