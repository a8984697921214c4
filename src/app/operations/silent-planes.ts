import type { Planes } from "#app/planes/planes-deps.ts";

/** Longer than any tick of a busy thread. */
export const ANSWER_LIMIT_MS = 3_000;

/** Why threads of the planes do not serve, one sentence each. */
export async function silentPlanes(workers: Planes["workers"]): Promise<readonly string[]> {
  const reasons = await Promise.all(
    workers.map(async (worker) => {
      if (!worker.isUp()) return [`${worker.name} is down`];
      return (await worker.answers(ANSWER_LIMIT_MS)) ? [] : [`${worker.name} does not answer`];
    }),
  );
  return reasons.flat();
}
