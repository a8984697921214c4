import { PlatformError } from "#kernel/errors/errors.ts";
import { type GatewayKey, listNamed } from "#store/gateways/gateway-datasets.ts";
import { gatewayById } from "#store/gateways/gateways.ts";
import { listState } from "#store/queries/list-pages.ts";
import type { Unit } from "#store/database/store.ts";

type Db = Unit["db"];

/** Each takes memory in every gateway thread. */
const GATEWAYS_MAX = 2_000;

const full = (message: string, source: string): PlatformError => new PlatformError("gateway_input_invalid", { message, source });

/** Throws `gateway_input_invalid` if the account has a gateway with the id already, or too many. */
export async function checkNewGateway(db: Db, accountId: string, id: string): Promise<void> {
  if (await gatewayById(db, accountId, id)) throw full(`A gateway with the id ${id} already exists.`, "/id");
  if ((await listState(db, "gateways", [accountId])).rows >= GATEWAYS_MAX)
    throw full(`An account can have at most ${GATEWAYS_MAX} gateways.`, "/id");
}

/** Of a gateway. The filters of a dataset take up to half a million characters, and an evaluation keeps a copy of its datasets. */
const PARTS_MAX = 100;

/** Throws `gateway_input_invalid` if the gateway has too many of the kind. */
export async function checkRoom(db: Db, kind: "datasets" | "evaluations", key: GatewayKey): Promise<void> {
  const { total } = await listNamed(db, `gateway_${kind}`, key, { name: "", search: "", limit: 1, offset: 0 });
  if (total >= PARTS_MAX) throw full(`A gateway can have at most ${PARTS_MAX} ${kind}.`, "/name");
}
