import { newId } from "#kernel/crypto/ids.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import {
  elementsProblem,
  type GatewayRoute,
  type GatewayRouteCreate,
  type RouteDeployment,
  type RouteVersion,
  type RouteVersionDetail,
} from "#model/gateways/gateway-route.ts";
import type { RouteElement } from "#snapshot/entries.ts";
import { gatewayObjectsAt, type GatewayObjectRow } from "#store/gateways/gateway-objects.ts";
import type { Unit } from "#store/database/store.ts";
import { gatewayRouteEntry, type StoredRoute } from "./object-entries.ts";
import {
  changedRow,
  invalidInput,
  loadObject,
  type ObjectDeps,
  objectRow,
  pageOf,
  requireGateway,
  valueOf,
  writeObject,
} from "./objects.ts";

type Elements = GatewayRouteCreate["elements"];

/** Dynamic routes of a gateway. Each change of the elements creates a version; the deployed version is active. */
export interface GatewayRoutes {
  list(accountId: string, gatewayId: string, page: PageRequest): Promise<Page<GatewayRoute>>;
  get(accountId: string, gatewayId: string, id: string): Promise<GatewayRoute>;
  /**
   * Also deploys the first version. Throws `gateway_input_invalid` for elements that do not form a route, and for a name
   * in use.
   */
  create(call: Call, accountId: string, gatewayId: string, body: GatewayRouteCreate): Promise<GatewayRoute>;
  rename(call: Call, accountId: string, gatewayId: string, id: string, name: string): Promise<GatewayRoute>;
  delete(call: Call, accountId: string, gatewayId: string, id: string): Promise<GatewayRoute>;
  listVersions(accountId: string, gatewayId: string, id: string, page: PageRequest): Promise<Page<RouteVersion>>;
  getVersion(accountId: string, gatewayId: string, id: string, versionId: string): Promise<RouteVersionDetail>;
  /** Creates a version without deploying it. */
  createVersion(call: Call, accountId: string, gatewayId: string, id: string, elements: Elements): Promise<RouteVersionDetail>;
  listDeployments(accountId: string, gatewayId: string, id: string, page: PageRequest): Promise<Page<RouteDeployment>>;
  deploy(call: Call, accountId: string, gatewayId: string, id: string, versionId: string): Promise<GatewayRoute>;
}

const ROUTES_MAX = 100;
const VERSIONS_MAX = 500;

export function createGatewayRoutes(deps: ObjectDeps): GatewayRoutes {
  const { store } = deps;
  const routes = (account_id: string, gateway_id: string) => ({ account_id, gateway_id, kind: "route", parent_id: "" }) as const;
  const versions = (account_id: string, gateway_id: string, parent_id: string) =>
    ({ account_id, gateway_id, kind: "route_version", parent_id }) as const;
  const deployments = (account_id: string, gateway_id: string, parent_id: string) =>
    ({ account_id, gateway_id, kind: "route_deployment", parent_id }) as const;

  const newVersion = async (unit: Unit, call: Call, at: ReturnType<typeof versions>, elements: Elements): Promise<GatewayObjectRow> => {
    const problem = elementsProblem(elements);
    if (problem !== null) throw invalidInput("/elements", `The elements are not a valid route: ${problem}.`);
    if ((await gatewayObjectsAt(unit.db, at)).length >= VERSIONS_MAX)
      throw invalidInput("/elements", `A route has at most ${VERSIONS_MAX} versions.`);
    const after = objectRow(deps, at, newId(), { elements });
    await writeObject(unit, { call, before: null, after, audited: valueOf });
    return after;
  };
  /** Deploys a version and returns the route's new state. */
  const deployed = async (
    unit: Unit,
    call: Call,
    at: ReturnType<typeof deployments>,
    name: string,
    version: GatewayObjectRow,
  ): Promise<StoredRoute> => {
    const deployment = objectRow(deps, at, newId(), { version_id: version.id });
    await writeObject(unit, { call, before: null, after: deployment, audited: valueOf });
    const { elements } = valueOf<{ elements: readonly RouteElement[] }>(version);
    return { name, elements, version_id: version.id, deployment_id: deployment.id, deployed_at: deployment.created_at };
  };
  const write = async (unit: Unit, call: Call, before: GatewayObjectRow | null, after: GatewayObjectRow): Promise<void> =>
    writeObject(unit, {
      call,
      before,
      after,
      audited: valueOf,
      ops: [{ kind: "gateway_route", id: after.id, value: gatewayRouteEntry(after) }],
    });
  const checkName = async (db: Unit["db"], accountId: string, gatewayId: string, name: string): Promise<void> => {
    const others = await gatewayObjectsAt(db, routes(accountId, gatewayId));
    if (others.some((row) => valueOf<StoredRoute>(row).name === name))
      throw invalidInput("/name", `The gateway already has a route named ${name}.`);
    if (others.length >= ROUTES_MAX) throw invalidInput("/name", `A gateway has at most ${ROUTES_MAX} routes.`);
  };

  return {
    list: async (accountId, gatewayId, page) => {
      await requireGateway(store.read, accountId, gatewayId);
      return pageOf((await gatewayObjectsAt(store.read, routes(accountId, gatewayId))).map(routeView), page);
    },
    get: async (accountId, gatewayId, id) => routeView(await loadObject(store.read, routes(accountId, gatewayId), id)),
    create: (call, accountId, gatewayId, { name, elements }) =>
      commit(deps, call, async (unit) => {
        await requireGateway(unit.db, accountId, gatewayId);
        await checkName(unit.db, accountId, gatewayId, name);
        const id = newId();
        const version = await newVersion(unit, call, versions(accountId, gatewayId, id), elements);
        const after = objectRow(
          deps,
          routes(accountId, gatewayId),
          id,
          await deployed(unit, call, deployments(accountId, gatewayId, id), name, version),
        );
        await write(unit, call, null, after);
        return routeView(after);
      }),
    rename: (call, accountId, gatewayId, id, name) =>
      commit(deps, call, async (unit) => {
        const before = await loadObject(unit.db, routes(accountId, gatewayId), id);
        const value = valueOf<StoredRoute>(before);
        if (value.name !== name) await checkName(unit.db, accountId, gatewayId, name);
        const after = changedRow(deps, before, { ...value, name });
        await write(unit, call, before, after);
        return routeView(after);
      }),
    delete: (call, accountId, gatewayId, id) =>
      commit(deps, call, async (unit) => {
        const before = await loadObject(unit.db, routes(accountId, gatewayId), id);
        await writeObject(unit, { call, before, after: null, audited: valueOf, ops: [{ kind: "gateway_route", id, value: null }] });
        return routeView(before);
      }),
    listVersions: async (accountId, gatewayId, id, page) => {
      const route = await loadObject(store.read, routes(accountId, gatewayId), id);
      const rows = await gatewayObjectsAt(store.read, versions(accountId, gatewayId, id));
      return pageOf(
        rows.toReversed().map((row) => versionView(row, route)),
        page,
      );
    },
    getVersion: async (accountId, gatewayId, id, versionId) => {
      const route = await loadObject(store.read, routes(accountId, gatewayId), id);
      return versionDetail(await loadObject(store.read, versions(accountId, gatewayId, id), versionId), route);
    },
    createVersion: (call, accountId, gatewayId, id, elements) =>
      commit(deps, call, async (unit) => {
        const route = await loadObject(unit.db, routes(accountId, gatewayId), id);
        return versionDetail(await newVersion(unit, call, versions(accountId, gatewayId, id), elements), route);
      }),
    listDeployments: async (accountId, gatewayId, id, page) => {
      await loadObject(store.read, routes(accountId, gatewayId), id);
      return pageOf((await gatewayObjectsAt(store.read, deployments(accountId, gatewayId, id))).toReversed().map(deploymentView), page);
    },
    deploy: (call, accountId, gatewayId, id, versionId) =>
      commit(deps, call, async (unit) => {
        const before = await loadObject(unit.db, routes(accountId, gatewayId), id);
        const version = await loadObject(unit.db, versions(accountId, gatewayId, id), versionId).catch((error: unknown) => {
          if (!(error instanceof PlatformError)) throw error;
          throw invalidInput("/version_id", "The route has no such version.");
        });
        const value = await deployed(unit, call, deployments(accountId, gatewayId, id), valueOf<StoredRoute>(before).name, version);
        const after = changedRow(deps, before, value);
        await write(unit, call, before, after);
        return routeView(after);
      }),
  };
}

const elementsOf = (row: GatewayObjectRow): Elements => valueOf<{ elements: Elements }>(row).elements;

const versionView = (row: GatewayObjectRow, route: GatewayObjectRow): RouteVersion => ({
  version_id: row.id,
  active: valueOf<StoredRoute>(route).version_id === row.id ? "true" : "false",
  data: JSON.stringify(elementsOf(row)),
  is_valid: true,
  created_at: row.created_at,
});

const versionDetail = (row: GatewayObjectRow, route: GatewayObjectRow): RouteVersionDetail => ({
  ...versionView(row, route),
  id: route.id,
  gateway_id: route.gateway_id,
  name: valueOf<StoredRoute>(route).name,
  elements: elementsOf(row),
  modified_at: row.modified_at,
});

const deploymentView = (row: GatewayObjectRow): RouteDeployment => ({
  deployment_id: row.id,
  version_id: valueOf<{ version_id: string }>(row).version_id,
  created_at: row.created_at,
});

function routeView(row: GatewayObjectRow): GatewayRoute {
  const { name, version_id, deployment_id, deployed_at } = valueOf<StoredRoute>(row);
  const elements = elementsOf(row);
  return {
    id: row.id,
    account_tag: row.account_id,
    gateway_id: row.gateway_id,
    name,
    elements,
    version: { version_id, active: "true", data: JSON.stringify(elements), is_valid: true, created_at: deployed_at },
    deployment: { deployment_id, version_id, created_at: deployed_at },
    created_at: row.created_at,
    modified_at: row.modified_at,
  };
}
