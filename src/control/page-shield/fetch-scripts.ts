import { createHash } from "node:crypto";
import { systemCall } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { fetchOutbound, type OutboundAddressAllowed, readOutboundUrl } from "#control/outbound.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { Store } from "#store/database/store.ts";
import { type PageResourceRow, pageResource, scriptsToFetch, updatePageResource } from "#store/page-shield/page-resources.ts";

/** Fetches scripts, so that a change of their content is noticed. */
export interface FetchScripts {
  /** Fetches the scripts that are due; returns how many were fetched, and how many could not be. */
  run(): Promise<{ readonly fetched: number; readonly failed: number }>;
}

/** A content of a script. */
export interface ScriptVersion {
  readonly hash: string;
  readonly fetched_at: string;
}

export const versionsOf = ({ versions }: Pick<PageResourceRow, "versions">): readonly ScriptVersion[] =>
  JSON.parse(versions) as readonly ScriptVersion[];

const AGAIN_MS = 86_400_000;
const BYTES_MAX = 5_242_880;
const TOTAL_MS = 10_000;
const VERSIONS_MAX = 10;
/** Of each run. Made-up reports must not let one zone delay all others, or this server fetch without end. */
const AT_ONCE = 20;
const PER_ZONE = 5;
const CANDIDATES = 200;

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly allowed: OutboundAddressAllowed;
}

export function createFetchScripts({ store, clock, allowed }: Deps): FetchScripts {
  const edit = (row: PageResourceRow, change: (current: PageResourceRow) => Parameters<typeof updatePageResource>[2]): Promise<void> =>
    commit({ store }, systemCall("page-shield"), async ({ db }) => {
      const current = await pageResource(db, row.zone_id, row.id);
      if (current !== undefined) await updatePageResource(db, row, change(current));
    });
  const fetched = async (row: PageResourceRow): Promise<boolean> => {
    // A script that ends this process must not be fetched again at each start.
    await edit(row, () => ({ fetch_due_ms: clock.nowMs() + AGAIN_MS }));
    const url = readOutboundUrl(row.name, allowed);
    if ("problem" in url) return false;
    const content = await fetchOutbound({ url, headers: { accept: "*/*" }, totalMs: TOTAL_MS, bytesMax: BYTES_MAX }, allowed).catch(
      () => null,
    );
    if (content === null) return false;
    const hash = createHash("sha256").update(content).digest("hex");
    const version = { hash, fetched_at: isoMicros(clock.nowMicros()) };
    await edit(row, (current) => {
      const [newest, ...older] = versionsOf(current);
      const isSame = newest?.hash === hash;
      return {
        versions: JSON.stringify([version, ...(newest === undefined || isSame ? older : [newest, ...older])].slice(0, VERSIONS_MAX)),
        ...(newest === undefined || isSame || current.untold === "new" ? {} : { untold: "changed" as const }),
      };
    });
    return true;
  };
  return {
    run: async () => {
      const counts = new Map<string, number>();
      const due = (await scriptsToFetch(store.read, clock.nowMs(), CANDIDATES)).filter(({ zone_id: zoneId }) => {
        counts.set(zoneId, (counts.get(zoneId) ?? 0) + 1);
        return counts.get(zoneId)! <= PER_ZONE;
      });
      const results: boolean[] = [];
      for (const row of due.slice(0, AT_ONCE)) results.push(await fetched(row));
      const failed = results.filter((isFetched) => !isFetched).length;
      return { fetched: results.length - failed, failed };
    },
  };
}
