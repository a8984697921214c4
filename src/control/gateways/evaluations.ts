import type { Call, Page, PageRequest } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import type { LongReads } from "#control/long-reads.ts";
import type { LogAverages } from "#events/read/log-reads.ts";
import type { GatewayLogStore } from "#events/read/store.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { newId } from "#kernel/crypto/ids.ts";
import {
  EVALUATION_TYPES,
  type EvaluationResult,
  type EvaluationType,
  type GatewayDataset,
  type GatewayEvaluation,
  type GatewayEvaluationCreate,
  type NamedList,
} from "#model/gateways/gateway-dataset.ts";
import {
  deleteNamed,
  type GatewayEvaluationRow,
  type GatewayKey,
  insertEvaluation,
  listNamed,
  namedById,
} from "#store/gateways/gateway-datasets.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { auditChange } from "./audit-change.ts";
import { checkGateway, datasetView, namedPage } from "./datasets.ts";
import { logScope } from "./logs.ts";
import { checkRoom } from "./room.ts";

/**
 * Evaluations of a gateway's logs. Throws `gateway_not_found` for an unknown gateway or evaluation, also if it belongs to
 * another account.
 */
export interface GatewayEvaluations {
  types(page: PageRequest): Page<EvaluationType>;
  list(key: GatewayKey, query: NamedList, page: PageRequest): Promise<Page<GatewayEvaluation>>;
  get(key: GatewayKey, id: string): Promise<GatewayEvaluation>;
  /** Evaluates the logs of all its datasets together, immediately. */
  create(call: Call, key: GatewayKey, body: GatewayEvaluationCreate): Promise<GatewayEvaluation>;
  /** Returns the deleted evaluation. */
  delete(call: Call, key: GatewayKey, id: string): Promise<GatewayEvaluation>;
}

/** The result of each type; null if no log has the data for it. */
const EVALUATORS: Readonly<Record<string, (averages: LogAverages) => number | null>> = {
  cost: ({ cost }) => cost,
  speed: ({ duration }) => duration,
  human_feedback: ({ liked, rated }) => (rated === 0 ? null : (100 * liked) / rated),
};
const DONE = { status: 1, status_description: "done" };
const NOTHING_FOUND = { status: 2, status_description: "no log has the data that this evaluation needs" };

export function createGatewayEvaluations(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly logs: GatewayLogStore;
  readonly longReads: LongReads;
}): GatewayEvaluations {
  const { store, clock, logs, longReads } = deps;
  const load = async (db: Unit["db"], key: GatewayKey, id: string): Promise<GatewayEvaluationRow> => {
    const row = await namedById(db, "gateway_evaluations", key, id);
    if (row === undefined) throw new PlatformError("gateway_not_found", { message: "The gateway has no such evaluation." });
    return row;
  };
  const datasetsOf = (db: Unit["db"], key: GatewayKey, ids: readonly string[]): Promise<GatewayDataset[]> =>
    Promise.all(
      [...new Set(ids)].map(async (id) => {
        const row = await namedById(db, "gateway_datasets", key, id);
        if (row === undefined) throw invalid(`The gateway has no dataset ${id}.`, "/dataset_ids");
        return datasetView(row);
      }),
    );

  return {
    types: ({ page, per_page }) => ({
      items: EVALUATION_TYPES.slice((page - 1) * per_page, page * per_page),
      page,
      per_page,
      total_count: EVALUATION_TYPES.length,
    }),
    list: async (key, query, { page, per_page }) => {
      await checkGateway(store.read, key);
      const { items, total } = await listNamed(store.read, "gateway_evaluations", key, namedPage(query, { page, per_page }));
      return { items: items.map(evaluationView), page, per_page, total_count: total };
    },
    get: async (key, id) => evaluationView(await load(store.read, key, id)),
    create: async (call, key, body) => {
      const gateway = await checkGateway(store.read, key);
      const types = body.evaluation_type_ids.map(evaluationType);
      const datasets = await datasetsOf(store.read, key, body.dataset_ids);
      const place = await longReads.begin(key.account_id);
      const alternatives = datasets.filter((dataset) => dataset.enable).map((dataset) => dataset.filters);
      const averages = await logs.averages(logScope(gateway), alternatives).finally(() => place.release());
      const now = isoMicros(clock.nowMicros());
      const id = newId();
      const results = types.map((type) => resultOf(id, type, averages, now));
      const found = { datasets: JSON.stringify(datasets), results: JSON.stringify(results), total_logs: averages.rows };
      const row: GatewayEvaluationRow = { id, ...key, name: body.name, ...found, created_at: now, modified_at: now };
      return commit(deps, call, async (unit) => {
        await checkGateway(unit.db, key);
        await checkRoom(unit.db, "evaluations", key);
        await insertEvaluation(unit.db, row);
        auditChange(unit, call, "gateway_evaluation", evaluationView, null, row);
        return evaluationView(row);
      });
    },
    delete: (call, key, id) =>
      commit(deps, call, async (unit) => {
        const before = await load(unit.db, key, id);
        await deleteNamed(unit.db, "gateway_evaluations", id);
        auditChange(unit, call, "gateway_evaluation", evaluationView, before, null);
        return evaluationView(before);
      }),
  };
}

function resultOf(evaluationId: string, { id, type }: EvaluationType, averages: LogAverages, now: string): EvaluationResult {
  const value = EVALUATORS[type]?.(averages) ?? null;
  return {
    id: newId(),
    evaluation_id: evaluationId,
    evaluation_type_id: id,
    result: value === null ? "" : String(value),
    ...(value === null ? NOTHING_FOUND : DONE),
    total_logs: averages.rows,
    created_at: now,
    modified_at: now,
  };
}

function evaluationType(id: string): EvaluationType {
  const type = EVALUATION_TYPES.find((one) => one.id === id);
  if (type === undefined) throw invalid(`The evaluation type ${id} does not exist.`, "/evaluation_type_ids");
  return type;
}

const invalid = (message: string, source: string): PlatformError => new PlatformError("gateway_input_invalid", { message, source });

const evaluationView = ({
  id,
  gateway_id,
  name,
  datasets,
  results,
  total_logs,
  created_at,
  modified_at,
}: GatewayEvaluationRow): GatewayEvaluation => ({
  id,
  gateway_id,
  name,
  datasets: JSON.parse(datasets) as GatewayEvaluation["datasets"],
  processed: true,
  results: JSON.parse(results) as GatewayEvaluation["results"],
  total_logs,
  created_at,
  modified_at,
});
