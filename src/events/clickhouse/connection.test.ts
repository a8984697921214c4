import assert from "node:assert/strict";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { refusal, startClickHouseStub } from "../../../test/support/clickhouse-stub.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { type ClickHouse, ClickHouseFailure, createClickHouse } from "./connection.ts";
import { createClickHouseReads } from "./reads.ts";

const LIMITS = { queryMs: 300, insertMs: 300 };
/** Longer than a machine under load takes to connect. */
const PATIENT = { queryMs: 30_000, insertMs: 30_000 };

const failure = async (work: Promise<unknown>): Promise<ClickHouseFailure> => {
  const error = await work.then(
    () => assert.fail("it did not fail"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ClickHouseFailure, String(error));
  assert.ok(!/pa%40ss|pa@ss/.test(`${error.message} ${error.stack}`), error.message);
  return error;
};

const everyCall = (server: ClickHouse): readonly Promise<unknown>[] => [
  server.rows("SELECT 1"),
  server.run("CREATE TABLE x"),
  server.insert("selvedge_requests (a)", ['["x"]\n'], "token"),
];

test("a server that is away, refuses or breaks off fails every call, with a reason that has no password", async (t) => {
  const stub = await startClickHouseStub(t);
  const server = createClickHouse({ url: stub.url, ca: "" }, PATIENT);
  t.after(() => server.close());
  stub.fault = refusal(516, "selvedge: Authentication failed: pa@ss (pa%40ss) is incorrect", 403);
  for (const call of everyCall(server)) {
    const { code, message } = await failure(call);
    assert.equal(code, 516);
    assert.match(message, /\[secret\] \(\[secret\]\) is incorrect/);
  }
  stub.fault = (response) => response.destroy();
  for (const call of everyCall(server)) assert.equal((await failure(call)).code, undefined);
  // An answer that ends in its middle.
  stub.fault = (response, _statement, socket) => {
    response.writeHead(200, { "content-length": 1000 });
    response.write('{"a":1}\n');
    setTimeout(() => socket.destroy(), 20);
  };
  await failure(server.rows("SELECT 1"));
  await failure(server.insert("selvedge_requests (a)", ['["x"]\n'], "token"));
  assert.equal(stub.stored.size, 0);
});

test("a server that takes too long, or accepts connections only, is given up in time", async (t) => {
  const stub = await startClickHouseStub(t);
  const slow = createClickHouse({ url: stub.url, ca: "" }, LIMITS);
  t.after(() => slow.close());
  stub.fault = () => undefined;
  for (const call of everyCall(slow)) assert.match((await failure(call)).message, /no answer within 300 ms/);
  const silent = createServer(() => undefined);
  await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
  t.after(() => silent.close());
  const mute = createClickHouse({ url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, ca: "" }, LIMITS);
  t.after(() => mute.close());
  await failure(mute.rows("SELECT 1"));
  const away = createClickHouse({ url: "http://user:pa%40ss@127.0.0.1:1/db", ca: "" }, PATIENT);
  t.after(() => away.close());
  for (const call of everyCall(away)) assert.match((await failure(call)).message, /ECONNREFUSED/);
});

test("an insert is compressed, has its token and its database, and values of queries are parameters", async (t) => {
  const stub = await startClickHouseStub(t);
  const server = createClickHouse({ url: stub.url, ca: "" }, PATIENT);
  t.after(() => server.close());
  await server.insert("selvedge_requests (a, b)", ['["x",1]\n', '["y",null]\n'], "token-1");
  await server.insert("selvedge_requests (a, b)", ['["x",1]\n'], "token-1");
  assert.deepEqual(stub.stored.get("selvedge_requests"), [
    ["x", 1],
    ["y", null],
  ]);
  assert.deepEqual([...stub.encodings], ["gzip"]);
  stub.answers.set("SELECT a", [{ a: 1 }, { a: 2 }]);
  assert.deepEqual(await server.rows("SELECT a FROM x WHERE b = {p0:String}", { p0: "'; DROP" }), [{ a: 1 }, { a: 2 }]);
  assert.ok(stub.calls.every((call) => !call.includes("DROP")));
});

test("queries say that the database is not available while ClickHouse is away, and find nothing before its tables are made", async (t) => {
  const stub = await startClickHouseStub(t);
  const server = createClickHouse({ url: stub.url, ca: "" }, PATIENT);
  t.after(() => server.close());
  const failed: string[] = [];
  const reads = createClickHouseReads({ server, local: {} as never, nowMs: () => 1e12, failed: (question) => failed.push(question) });
  const groups = { where: [], by: [], measures: [], order: [], limit: 1 };
  stub.fault = refusal(60, "Table events.selvedge_requests does not exist", 404);
  assert.deepEqual(await reads.page("requests", { where: [], limit: 1 }), { rows: [], last: null, hasMore: false });
  assert.deepEqual(await reads.groups("requests", groups), []);
  assert.equal(await reads.lastRow("requests"), 0);
  assert.deepEqual(failed, []);
  stub.fault = refusal(241, "memory limit exceeded");
  for (const question of [reads.page("requests", { where: [], limit: 1 }), reads.groups("dns_queries", groups), reads.lastRow("requests")])
    await assert.rejects(
      question,
      (error) => error instanceof PlatformError && error.errorName === "database_unavailable" && error.retryable,
    );
  assert.deepEqual(failed, ["page", "groups", "lastRow"]);
});
