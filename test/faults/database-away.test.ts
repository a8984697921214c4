import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { sharedPostgres, startPostgres } from "../support/postgres.ts";
import { api, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

/** A wire to PostgreSQL that can be cut and mended. */
interface Wire {
  readonly url: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
}

async function wireTo(t: TestContext, databaseUrl: string): Promise<Wire> {
  const { pathname, searchParams } = new URL(databaseUrl.replace("@/", "@local/"));
  const target = join(searchParams.get("host") ?? "", ".s.PGSQL.5432");
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => (sockets.delete(socket), near.destroy(), far.destroy()));
    }
    near.pipe(far).pipe(near);
  });
  let port = 0;
  const mend = async (): Promise<void> => {
    await once(server.listen(port, "127.0.0.1"), "listening");
    ({ port } = server.address() as AddressInfo);
  };
  const cut = async (): Promise<void> => {
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await mend();
  t.after(() => server.listening && cut());
  return { url: `postgres://postgres:hunter2@127.0.0.1:${port}${pathname}`, cut, mend };
}

test(
  "while the database is down the planes serve and the API reports it, and both recover with the database",
  { skip: toolOrSkip("postgres") },
  async (t) => {
    const shared = sharedPostgres();
    const own = shared === null ? startPostgres() : null;
    t.after(() => own?.stop());
    const wire = await wireTo(t, await (shared ?? own!).createDatabase());
    const selvedge = await startSelvedge({ args: ["--database-url", wire.url] });
    t.after(() => selvedge.kill());
    const call = (method: string, path: string, body?: object) => api(selvedge, selvedge.ready.token ?? "", method, path, body);
    const zone = await call("POST", "/zones", { name: "away.example", account: { id: selvedge.ready.account_id } });
    const records = `/zones/${zone.body.result.id}/dns_records`;
    const put = (name: string) => call("POST", records, { type: "A", name, content: "192.0.2.1", ttl: 60 });
    const resolver = new Resolver({ tries: 2, timeout: 20_000 });
    resolver.setServers([selvedge.ready.dns]);
    assert.equal((await put("before")).status, 200);

    for (let round = 1; round <= 2; round++) {
      await wire.cut();
      const answers = await Promise.all([put(`lost-${round}`), put(`gone-${round}`), call("GET", records), call("GET", "/zones")]);
      for (const { status, body } of answers) {
        assert.equal(status, 503);
        assert.equal(body.errors.length, 1);
        assert.partialDeepStrictEqual(body.errors[0], { code: 10503, message: "The database is not available; retry in a moment" });
      }
      assert.deepEqual(await resolver.resolve4("before.away.example"), ["192.0.2.1"]);
      await wire.mend();
      assert.equal((await put(`after-${round}`)).status, 200);
      assert.deepEqual(await resolver.resolve4(`after-${round}.away.example`), ["192.0.2.1"]);
    }
    const names = (await call("GET", records)).body.result.map(({ name }: { name: string }) => name.split(".")[0]);
    assert.deepEqual(names.toSorted(), ["after-1", "after-2", "before"]);
    assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
    assert.doesNotMatch(selvedge.log(), /hunter2/);
  },
);
