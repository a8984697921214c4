import { join } from "node:path";
import type { Call } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import { systemClock } from "#kernel/clock.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica, type MemoryReplica } from "#snapshot/memory-replica.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../support/control.ts";
import { PLANE_INDEXES } from "../support/plane-indexes.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { SCALED, type Scaled, type ScaledPlace } from "./scaled.ts";

/** The number of objects of each kind, times the kind's own factor. */
const SIZES = [10, 100, 1_000] as const;
/** Number of operations for the mean. */
const OPERATIONS = 12;

/**
 * Cost of one more object, one change, a page in the middle and a start beside ten, a hundred and a thousand times as
 * many objects: CPU of all threads, in microseconds each. The value is the largest quotient of the largest and the
 * smallest size.
 */
export const scale: Benchmark = {
  name: "scale",
  unit: "times the CPU for each at 1000× of that at 10×, the worst of all",
  better: "lower",
  target: 3,
  tools: [],
  rounds: 1,
  roundsMax: 3,
  prepare: async ({ directory }) => {
    let round = 0;
    return {
      ours: { name: "selvedge", run: () => measure(join(directory, String(round++))) },
      close: async () => {},
    };
  },
};

type Cost = Readonly<Record<"create" | "change" | "page" | "start", number>>;

async function measure(prefix: string): Promise<Measurement> {
  const also: Record<string, number> = {};
  let worst = 0;
  for (const scaled of SCALED) {
    const costs: Cost[] = [];
    for (const size of SIZES) costs.push(await costOf(scaled, size * (scaled.unit ?? 1), `${prefix}-${scaled.name}-${size}.db`));
    for (const what of ["create", "change", "page", "start"] as const) {
      const of = costs.map((cost) => cost[what]);
      for (const [i, size] of SIZES.entries()) also[`${scaled.name}_${what}_${size * (scaled.unit ?? 1)}_us`] = of[i] ?? Number.NaN;
      const ratio = (of.at(-1) ?? Number.NaN) / (of[0] ?? Number.NaN);
      also[`${scaled.name}_${what}_ratio`] = ratio;
      if (scaled.grows?.includes(what) !== true) worst = Math.max(worst, ratio);
    }
  }
  return { value: worst, also };
}

async function costOf(scaled: Scaled, count: number, path: string): Promise<Cost> {
  const store = await openStore({ url: `sqlite:${path}`, clock: systemClock });
  try {
    const { control, account_id, call } = await controlOver(store, {
      customHostnamesPerZoneMax: 10 ** 6,
      hostnameIssuancesPerMinute: 10 ** 6,
    });
    const place = await placeOf(store, control, account_id, call);
    await scaled.fill(place, count);
    const fresh = (await rebuildSnapshot(store)).ops;
    const start = await cpuOf(async () => open((await rebuildSnapshot(store)).ops));
    const replica = open(fresh);
    let rev = await store.revision();
    /** The planes' work on it is included. */
    const follow = async (): Promise<void> => {
      for (const set of (await store.changesSince(rev, 1_000)) ?? []) {
        replica.apply(set.changes as readonly Op[]);
        rev = set.rev;
      }
    };
    const each = async (work: (i: number) => Promise<unknown>): Promise<number> => {
      // Warms up the code that runs for the first time.
      await work(0);
      await follow();
      const spent = await cpuOf(async () => {
        for (let i = 1; i <= OPERATIONS; i++) {
          await work(i);
          await follow();
        }
      });
      return spent / OPERATIONS;
    };
    const create = await each((i) => scaled.create(place, count + i));
    const change = await each((i) => scaled.change(place, count + i, i));
    const pages = Math.max(1, Math.floor(count / PER_PAGE));
    const page = await each((i) => scaled.page(place, { page: 1 + ((Math.floor(pages / 2) + i) % pages), per_page: PER_PAGE }));
    return { create, change, page, start: start / count };
  } finally {
    await store.close();
  }
}

const PER_PAGE = 10;

async function placeOf(store: Store, control: Control, account_id: string, call: () => Call): Promise<ScaledPlace> {
  const zone = await control.zones.create(call(), { name: "scale.test", account: { id: account_id } });
  return { store, control, account_id, call, zone: { ...zone, account_id, plan: "enterprise" }, ids: new Map() };
}

function open(ops: readonly Op[]): MemoryReplica {
  const replica = createMemoryReplica(ops);
  for (const plane of Object.values(PLANE_INDEXES)) plane(replica);
  return replica;
}

/** Microseconds of all threads. */
async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
