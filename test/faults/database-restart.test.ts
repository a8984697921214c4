import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startPostgres } from "../support/postgres.ts";
import { api, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const CLIENTS = 8;
const RESTARTS = 3;
/** More than the failed authentications that an address is allowed. */
const REFUSED_MIN = 330;
const GIVE_UP_MS = 60_000;

async function until(holds: () => boolean): Promise<void> {
  for (let waitedMs = 0; !holds(); waitedMs += 10) {
    assert.ok(waitedMs < GIVE_UP_MS, "the clients got no further");
    await delay(10);
  }
}

test(
  `${CLIENTS} clients that retry through restarts of PostgreSQL get retryable errors, and never an authentication error`,
  {
    skip: toolOrSkip("postgres"),
    timeout: 200_000,
  },
  async (t) => {
    const postgres = startPostgres();
    t.after(() => postgres.stop());
    const selvedge = await startSelvedge({
      args: ["--database-url", await postgres.createDatabase()],
      env: { SELVEDGE_BOOTSTRAP_API_KEY: "0123456789abcdef0123456789abcdef01234" },
    });
    t.after(() => selvedge.kill());
    const answers = new Map<number, number>();
    const codes = new Set<number>();
    const without: string[] = [];
    let stopped = false;
    let refused = 0;
    const ask = async (headers: Record<string, string>): Promise<number> => {
      const response = await fetch(`${selvedge.ready.api}/zones`, { headers, signal: AbortSignal.timeout(GIVE_UP_MS) });
      const body = (await response.json()) as { errors: readonly { code: number; message: string }[] };
      for (const { code } of body.errors) codes.add(code);
      if (response.status === 503 && response.headers.get("retry-after") === null) without.push(JSON.stringify(body.errors));
      if (response.status === 503 && "authorization" in headers) refused++;
      answers.set(response.status, (answers.get(response.status) ?? 0) + 1);
      return response.status;
    };
    const forms: readonly Record<string, string>[] = [
      { authorization: `Bearer ${selvedge.ready.token}` },
      { "x-auth-email": "admin@selvedge.local", "x-auth-key": "0123456789abcdef0123456789abcdef01234" },
    ];
    const credentialOf = (client: number): Record<string, string> => forms[client === 0 ? 1 : 0] ?? {};
    // Made now, used for the first time when all is over: nobody knows it from before.
    const groups = await api(selvedge, selvedge.ready.token ?? "", "GET", "/user/tokens/permission_groups?name=Zone%20Read");
    const made = await api(selvedge, selvedge.ready.token ?? "", "POST", "/user/tokens", {
      name: "later",
      policies: [
        {
          effect: "allow",
          resources: { "com.cloudflare.api.account.zone.*": "*" },
          permission_groups: [{ id: groups.body.result[0].id }],
        },
      ],
    });
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      while (!stopped) if ((await ask(credentialOf(client))) !== 200) await delay(1);
    });
    for (let restart = 1; restart <= RESTARTS; restart++) {
      await postgres.crash();
      await until(() => refused >= (restart * REFUSED_MIN) / RESTARTS);
      postgres.revive();
      const served = answers.get(200) ?? 0;
      await until(() => (answers.get(200) ?? 0) > served + CLIENTS);
    }
    stopped = true;
    await Promise.all(clients);
    for (const headers of [...forms, { authorization: `Bearer ${made.body.result?.value}` }]) assert.equal(await ask(headers), 200);
    t.diagnostic(JSON.stringify(Object.fromEntries(answers)));
    assert.deepEqual([...answers.keys()].toSorted(), [200, 503]);
    assert.deepEqual([...codes], [10503]);
    assert.deepEqual(without, []);
  },
);
