import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, get } from "node:http";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../../test/support/eventually.ts";
import { type ApiServer, type ApiServerOptions, ask, startApi } from "../../test/support/api-server.ts";

// A page may have five million records (contract.md §3): it goes out in parts.

const COUNT = 2_500;

async function serverWithRecords(
  t: TestContext,
  options: ApiServerOptions = {},
): Promise<{ server: ApiServer; zone: PlannedZoneRef; path: string }> {
  const server = await startApi(options);
  t.after(() => server.close());
  const zone = (await ask(server, "POST", "/zones", { body: { name: "example.test", account: { id: server.account_id } } })).body.result;
  const path = `/zones/${zone.id}/dns_records`;
  const lines = Array.from({ length: COUNT }, (_, i) => `h${i} 300 A 10.0.${i >> 8}.${i & 255}`);
  const { body } = await ask(server, "POST", `${path}/import`, { form: { file: new File([lines.join("\n")], "zone.txt") } });
  assert.equal(body.result.recs_added, COUNT);
  return { server, zone, path };
}

test("a page of any length has every record once and in order, with their number", async (t) => {
  const { server, path } = await serverWithRecords(t);
  const { body, headers } = await ask(server, "GET", `${path}?per_page=5000000`);
  assert.equal(headers.get("content-length"), null, "nobody held it as a whole");
  assert.deepEqual(body.result_info, { page: 1, per_page: 5_000_000, count: COUNT, total_count: COUNT, total_pages: 1 });
  assert.deepEqual([body.success, body.errors, body.messages], [true, [], []]);
  const pages = await Promise.all(
    [1, 2, 3].map(async (page) => (await ask(server, "GET", `${path}?per_page=1000&page=${page}`)).body.result),
  );
  assert.deepEqual(body.result, pages.flat());
  const second = (await ask(server, "GET", `${path}?per_page=1300&page=2&order=content&direction=desc`)).body;
  assert.deepEqual([second.result.length, second.result_info.count, second.result_info.total_pages], [1200, 1200, 2]);
  const filtered = (await ask(server, "GET", `${path}?per_page=2000&content.startswith=10.0&type=A`)).body;
  assert.deepEqual([filtered.result.length, filtered.result_info.total_count], [2000, COUNT]);
});

test("each record of a long page has the form of the request's API date", async (t) => {
  const { server, zone, path } = await serverWithRecords(t, { date: { asOf: "2024-01-01", negotiate: false } });
  const { result } = (await ask(server, "GET", `${path}?per_page=5000`)).body;
  assert.equal(result.length, COUNT);
  assert.deepEqual([...new Set(result.map((record: { zone_id: string }) => record.zone_id))], [zone.id]);
});

test("a record deleted before its chunk is read is omitted", async (t) => {
  const { server, zone } = await serverWithRecords(t);
  const page = await server.control.dnsRecords.list(zone, {}, { page: 1, per_page: 5_000 });
  const last = (await server.control.dnsRecords.list(zone, { direction: "desc" }, { page: 1, per_page: 1 })).items[0]!;
  await ask(server, "DELETE", `/zones/${zone.id}/dns_records/${last.id}`);
  const seen = page.items.map(({ id }) => id);
  for await (const part of page.more ?? []) seen.push(...part.map(({ id }) => id));
  assert.deepEqual([seen.length, new Set(seen).size, seen.includes(last.id)], [COUNT - 1, COUNT - 1, false]);
});

test("a client that disconnects during a page leaves nothing behind", async (t) => {
  const { server, path } = await serverWithRecords(t);
  const socket = connect({ host: "127.0.0.1", port: server.port });
  socket.write(`GET /client/v4${path}?per_page=5000 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.token}\r\n\r\n`);
  await once(socket, "data");
  socket.destroy();
  const { body } = await ask(server, "GET", `${path}?per_page=5000`);
  assert.equal(body.result.length, COUNT);
  assert.deepEqual(
    server.logged.filter((line) => line.includes("failed")),
    [],
  );
});

test("clients that leave while their exports wait make room for others, and HEAD has no false length", async (t) => {
  const { server, zone, path } = await serverWithRecords(t);
  const head = await fetch(`http://127.0.0.1:${server.port}/client/v4${path}/export`, {
    method: "HEAD",
    headers: { authorization: `Bearer ${server.token}` },
  });
  assert.deepEqual([head.status, head.headers.get("content-length")], [200, null]);
  const held = await Promise.all(
    Array.from({ length: 4 }, () => server.control.zoneFiles.export({ ...zone, account_id: server.account_id })),
  );
  const answered: number[] = [];
  const clients: ClientRequest[] = [];
  const send = (): void => {
    const client = get(`http://127.0.0.1:${server.port}/client/v4${path}/export`, {
      ...{ agent: false, headers: { authorization: `Bearer ${server.token}` } },
    });
    client.on("response", ({ statusCode = 0 }) => answered.push(statusCode)).on("error", () => undefined);
    clients.push(client);
  };
  for (let n = 0; n < 101; n++) send();
  await eventually(() => answered.length > 0);
  assert.deepEqual(answered, [429], "a hundred wait");
  for (const client of clients) client.destroy();
  // Those that have left no longer count, so all of these wait, once the server knows.
  await eventually(
    async () => (await Promise.race([ask(server, "GET", `${path}/export`).then(({ status }) => status), delay(200)])) !== 429,
  );
  for (const parts of held) await parts.return?.();
  assert.equal((await ask(server, "GET", `${path}/export`)).status, 200);
});
