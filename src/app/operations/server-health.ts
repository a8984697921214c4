import type { ServerHealth } from "#model/access/server-health.ts";
import type { Store } from "#store/database/store.ts";
import type { Planes } from "#app/planes/planes-deps.ts";
import type { ListenerAddresses } from "./ready.ts";
import { ANSWER_LIMIT_MS } from "./silent-planes.ts";

export async function planeStates(planes: Pick<Planes, "workers" | "idle">): Promise<ServerHealth["planes"]> {
  const started = await Promise.all(
    planes.workers.map(async (worker) => ({
      name: worker.name,
      status: !worker.isUp() ? ("down" as const) : (await worker.answers(ANSWER_LIMIT_MS)) ? ("up" as const) : ("silent" as const),
    })),
  );
  return [...started, ...planes.idle().map((name) => ({ name, status: "idle" as const }))];
}

/** The current state of the planes and the database, and the places where the planes accept clients once they have started. */
export async function serverHealth(
  store: Store,
  planes: Pick<Planes, "workers" | "idle">,
  { http = "", https = "", dns = "", dot = "", gateway = "" }: Partial<ListenerAddresses>,
): Promise<ServerHealth> {
  const [reason, states] = await Promise.all([store.health(), planeStates(planes)]);
  const addresses = Object.fromEntries(Object.entries({ http, https, dns, dot, gateway }).filter(([, address]) => address !== ""));
  return { planes: states, addresses, problems: reason === null ? [] : [`nothing can be written to the database: ${reason}`] };
}
