import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { sharedPostgres, startPostgres } from "../support/postgres.ts";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

/** Enough that a transaction takes long beside everything around it. */
const BATCH_RECORDS = 150;
const ATTEMPTS = 60;

interface Frozen {
  /** A request to the node, which it answers when it continues. */
  readonly batch: ReturnType<typeof api>;
  readonly name: string;
}

/** Stops the node while its transaction with the records stands open; jobs write to other tables. */
async function freezeInTransaction(node: Selvedge, database: pg.Client, send: (name: string) => ReturnType<typeof api>): Promise<Frozen> {
  const openTransactions = async (): Promise<number> => {
    const { rows } = await database.query(
      `SELECT COUNT(*)::int AS n FROM pg_stat_activity a WHERE datname = current_database() AND state = 'idle in transaction'
       AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.mode = 'RowExclusiveLock' AND l.relation = 'dns_records'::regclass)`,
    );
    return rows[0].n as number;
  };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const name = `frozen${attempt}`;
    const batch = send(name);
    await delay((attempt % 10) * 20);
    process.kill(node.pid, "SIGSTOP");
    // The server's work for it ends.
    await delay(100);
    if ((await openTransactions()) > 0) return { batch, name };
    process.kill(node.pid, "SIGCONT");
    await batch;
  }
  throw new Error("the node was never caught in a transaction");
}

async function nodeOver(t: TestContext, url: string, sealKey?: string): Promise<Selvedge> {
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-frozen-"));
  if (sealKey !== undefined) cpSync(sealKey, join(dataDir, "seal.key"));
  const node = await startSelvedge({ dataDir, args: ["--database-url", url] });
  t.after(async () => {
    await node.kill();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return node;
}

test(
  "a node frozen in a transaction does not block writes of other nodes, and none of its transaction is stored",
  { skip: toolOrSkip("postgres"), timeout: 400_000 },
  async (t) => {
    const shared = sharedPostgres();
    const own = shared === null ? startPostgres() : null;
    t.after(() => own?.stop());
    const url = await (shared ?? own!).createDatabase();
    const first = await nodeOver(t, url);
    const token = first.ready.token ?? "";
    const { body } = await api(first, token, "POST", "/zones", { name: "shared.example", account: { id: first.ready.account_id } });
    const records = `/zones/${body.result.id}/dns_records`;
    const second = await nodeOver(t, url, join(first.dataDir, "seal.key"));
    const database = new pg.Client({ connectionString: url });
    await database.connect();
    t.after(() => database.end());

    const record = (name: string) => ({ type: "A", name, content: "192.0.2.1", ttl: 60 });
    const { batch, name } = await freezeInTransaction(first, database, (prefix) =>
      api(first, token, "POST", `${records}/batch`, {
        posts: Array.from({ length: BATCH_RECORDS }, (_, n) => record(`${prefix}-${n}`)),
      }),
    );
    // One that waited for as long as writers wait for a lock would get 503.
    const written = await Promise.all(["one", "two", "three"].map((host) => api(second, token, "POST", records, record(host))));
    assert.deepEqual(
      written.map(({ status }) => status),
      [200, 200, 200],
      JSON.stringify(written.map(({ body: { errors } }) => errors)),
    );
    process.kill(first.pid, "SIGCONT");
    const refused = await batch;
    assert.deepEqual([refused.status, refused.body.errors[0].code], [503, 10503]);
    const { body: of } = await api(second, token, "GET", `${records}?name.startswith=${name}-&per_page=5`);
    assert.equal(of.result_info.total_count, 0, "nothing of the transaction is there");
    assert.equal((await api(first, token, "POST", records, record("again"))).status, 200);
  },
);
