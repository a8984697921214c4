import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "#kernel/clock.ts";
import { LeaseLostError } from "#store/database/fence.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { sharedPostgres, startPostgres } from "../../../test/support/postgres.ts";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { type JobLeases, openJobLeases } from "./job-leases.ts";

const skip = toolOrSkip("postgres");
const LEASE_MS = 400;
const TURN_MS = 100;

async function database(t: TestContext): Promise<string> {
  const shared = sharedPostgres();
  const own = shared === null ? startPostgres() : null;
  t.after(() => own?.stop());
  return (shared ?? own!).createDatabase();
}

interface Process {
  readonly store: Store;
  readonly leases: JobLeases;
  end(): Promise<void>;
}

async function startProcess(url: string, holder: string): Promise<Process> {
  const store = await openStore({ url, clock: systemClock });
  const leases = await openJobLeases({
    ...{ store, clock: systemClock, jobs: ["one", "two"], holder, leaseMs: LEASE_MS, turnMs: TURN_MS },
    failed: (error) => assert.match(String(error), /frozen/),
  });
  return {
    store,
    leases,
    end: async () => {
      await leases.close();
      await store.close();
    },
  };
}

const writeNote = ({ store }: Process, text: string): Promise<unknown> =>
  store.write(({ db }) =>
    db
      .insertInto("leases")
      .values({ duty: `note:${text}`, holder: "note", until_ms: 0, epoch: 0 })
      .execute(),
  );

const notes = async ({ store }: Process): Promise<readonly string[]> =>
  (await store.read.selectFrom("leases").select("duty").where("duty", "like", "note:%").orderBy("duty").execute()).map(({ duty }) => duty);

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(10);
}

test("a job that outlives its lease writes nothing more, and the next process has it", { skip, timeout: 120_000 }, async (t) => {
  const url = await database(t);
  const first = await startProcess(url, "first");
  const second = await startProcess(url, "second");
  assert.deepEqual([first.leases.held(), second.leases.held()], [2, 0]);
  assert.equal(
    second.leases.run("one", async () => 1),
    null,
  );

  const taken: string[] = [];
  second.leases.onTaken((job) => taken.push(job));
  let proceed = (): void => undefined;
  const frozen = first.leases.run("one", async () => {
    await writeNote(first, "begun");
    await new Promise<void>((resolve) => (proceed = resolve));
    await writeNote(first, "late");
  })!;
  // To others, a process that does not renew is one that was killed.
  const renewing = first.store.write;
  let isFrozen = true;
  (first.store as { write: unknown }).write = async (work: never, options: never) => {
    if (isFrozen) throw new Error("frozen");
    return renewing(work, options);
  };
  await until(() => second.leases.held() === 2);
  isFrozen = false;
  assert.deepEqual(taken.toSorted(), ["one", "two"]);
  await second.leases.run("one", () => writeNote(second, "second"));
  proceed();
  await assert.rejects(frozen, LeaseLostError);
  assert.equal(
    first.leases.run("one", async () => 1),
    null,
  );
  assert.deepEqual(await notes(first), ["note:begun", "note:second"]);
  await second.end();
  // Released, not run out.
  await until(() => first.leases.held() === 2);
  assert.equal(await first.leases.run("two", async () => "mine"), "mine");
  await first.end();
});
