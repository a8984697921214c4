import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { type EventDatabase, openEventDatabase } from "#events/database/database.ts";
import { packed, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { newRayId, newUlid } from "#kernel/crypto/ids.ts";
import { PERMISSION_GROUPS } from "#model/access/permission-groups.ts";
import { type ApiServer, ask, startApi } from "./support/api-server.ts";
import { eventually, readUntil } from "./support/eventually.ts";

const PROGRAM = join(import.meta.dirname, "../bin/selvedge.js");
const HOUR_MS = 3_600_000;
const START_MS = 480_000 * HOUR_MS;

describe("the activity log", () => {
  let server: ApiServer;
  let database: EventDatabase;
  let zone = "";
  let other = "";
  before(async () => {
    server = await startApi();
    database = openEventDatabase(server.eventsPath);
    [zone, other] = (await Promise.all(["one.example", "two.example"].map(createZone))) as [string, string];
    const rows = Array.from({ length: 250 }, (_, n) =>
      event(zone, { at_ms: START_MS + n, path: `/${n}`, action: n % 2 === 0 ? "block" : "log" }),
    );
    database.insert([packed("security_events", [...rows, event(other, { path: "/secret" })])]);
  });
  after(async () => {
    database.close();
    await server.close();
  });

  const createZone = async (name: string): Promise<string> => {
    const { body } = await ask(server, "POST", "/zones", { body: { name, account: { id: server.account_id } } });
    return body.result.id;
  };
  const event = (zone_id: string, changes: Parameters<typeof testSecurityRow>[0] = {}) =>
    testSecurityRow({ id: newUlid(changes.at_ms ?? START_MS), at_ms: START_MS, account_id: server.account_id, zone_id, ...changes });

  test("SPEC 6: a cursor reads the whole log, each event once", async () => {
    const paths: string[] = [];
    let cursor = "";
    for (let page = 0; page < 10; page++) {
      const { body } = await ask(server, "GET", `/zones/${zone}/security/events?action=block&per_page=50${cursor && `&cursor=${cursor}`}`);
      assert.equal(body.result_info.total_count, 125);
      paths.push(...body.result.map((row: { path: string }) => row.path));
      if (body.result_info.cursors === undefined) break;
      cursor = body.result_info.cursors.after;
    }
    assert.deepEqual(
      paths,
      Array.from({ length: 125 }, (_, n) => `/${248 - n * 2}`),
    );
  });

  test("an unknown parameter is refused, because a mistyped filter would select all events", async () => {
    for (const path of ["", "/export", "/tail"]) {
      for (const scope of [`/zones/${zone}`, `/accounts/${server.account_id}`]) {
        const { status, body } = await ask(server, "GET", `${scope}/security/events${path}?acton=block`);
        assert.deepEqual([status, body.errors[0].source.pointer], [400, "/acton"], path);
      }
    }
    for (const path of ["requests?stauts=500", "requests/tail?hots=one.example"])
      assert.equal((await ask(server, "GET", `/zones/${zone}/logs/${path}`)).status, 400, path);
  });

  test("an export is complete, as NDJSON and as CSV in which no spreadsheet finds a formula", async () => {
    const lines = await ask(server, "GET", `/zones/${zone}/security/events/export`);
    assert.match(lines.headers.get("content-disposition") ?? "", /security-events\.ndjson/);
    const rows = lines.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { path: string; zone_id: string });
    assert.equal(rows.length, 250);
    assert.ok(rows.every((row) => row.zone_id === zone));
    database.insert([packed("security_events", [event(zone, { at_ms: START_MS + HOUR_MS, path: '/a,"b"', user_agent: "=cmd()" })])]);
    const csv = await ask(server, "GET", `/zones/${zone}/security/events/export?format=csv&limit=2`);
    assert.equal(csv.headers.get("content-type"), "text/csv; charset=utf-8; header=present");
    const [head, first, second, end] = csv.text.split("\r\n");
    assert.match(head ?? "", /^occurred_at,id,ray_id,/);
    assert.ok(first?.includes(',"/a,""b""",,\'=cmd(),200,'), first);
    assert.ok(second?.includes(",/249,"), second);
    assert.equal(end, "");
    const refused = await ask(server, "GET", `/zones/${zone}/security/events/export?client_ip=nowhere`);
    assert.equal(refused.status, 400, "a wrong filter is told before the first line");
  });

  test("an export whose token is revoked breaks the connection, so that it does not look complete", async () => {
    const many = await createZone("many.example");
    const path = `/${"long/".repeat(200)}`;
    const row = (n: number) => ({ at_ms: START_MS - n, path: `${path}${n}` });
    const ROWS = 16_000;
    for (let from = 0; from < ROWS; from += 2000) {
      const numbers = Array.from({ length: 2000 }, (_, n) => from + n);
      database.insert([
        packed(
          "security_events",
          numbers.map((n) => event(many, row(n))),
        ),
        packed(
          "requests",
          numbers.map((n) => testRequestRow({ ray_id: newRayId(START_MS - n), account_id: server.account_id, zone_id: many, ...row(n) })),
        ),
      ]);
    }
    const groups = PERMISSION_GROUPS.filter(({ name }) => name === "Logs Read").map(({ id }) => ({ id }));
    const policies = [{ effect: "allow", resources: { [`com.cloudflare.api.account.zone.${many}`]: "*" }, permission_groups: groups }];
    for (const list of ["security/events", "logs/requests"])
      for (const revoke of [false, true]) {
        const { id, value } = (await ask(server, "POST", "/user/tokens", { body: { name: "exporter", policies } })).body.result;
        const url = new URL(`${server.url}/zones/${many}/${list}/export`);
        const socket = connect(Number(url.port), url.hostname);
        socket.write(`GET ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\nauthorization: Bearer ${value}\r\nconnection: close\r\n\r\n`);
        await once(socket, "readable");
        if (revoke) assert.equal((await ask(server, "DELETE", `/user/tokens/${id}`)).status, 200);
        const received = await text(socket).catch(() => "");
        assert.equal(received.endsWith("\r\n0\r\n\r\n"), !revoke, `${list} ${revoke}`);
        if (!revoke) assert.equal(received.match(/"ray_id"/g)?.length, ROWS, "all of them, with no bound of their number");
      }
  });

  test("request logs have cursors, filters, exports and an account-wide list, like the activity log", async () => {
    const site = await createZone("site.example");
    const rows = Array.from({ length: 60 }, (_, n) =>
      testRequestRow({
        ...{ ray_id: newRayId(START_MS + n), at_ms: START_MS + n, account_id: server.account_id, zone_id: site, path: `/n/${n}` },
        ...{ method: n % 2 === 0 ? "GET" : "POST", status: n % 3 === 0 ? 502 : 200, origin_status: n % 3 === 0 ? null : 200 },
        ...{
          user_agent: n < 10 ? "=crawler/1" : "browser/2",
          cache_status: n % 5 === 0 ? "hit" : "",
          country: "NL",
          edge_error: n === 7 ? "1016" : "",
        },
      }),
    );
    database.insert([packed("requests", rows)]);
    for (const scope of [`/zones/${site}`, `/accounts/${server.account_id}`]) {
      const list = `${scope}/logs/requests`;
      const paths: string[] = [];
      let cursor = "";
      do {
        const { body } = await ask(server, "GET", `${list}?path.contains=/n/&method=POST&per_page=7${cursor && `&cursor=${cursor}`}`);
        assert.equal(body.result_info.total_count, 30);
        assert.equal(body.result_info.total_count_is_estimate, undefined);
        paths.push(...body.result.map((row: { path: string }) => row.path));
        cursor = body.result_info.cursors?.after ?? "";
      } while (cursor !== "" && paths.length < 100);
      assert.deepEqual(
        paths,
        Array.from({ length: 30 }, (_, n) => `/n/${59 - n * 2}`),
      );
      for (const [filter, count] of [
        ["status=502&status=404", 20],
        ["origin_status=200", 40],
        ["cache_status=hit", 12],
        ["edge_error=1016", 1],
        ["user_agent.contains=crawler", 10],
        ["country=NL&scheme=https", 60],
        ["country=BE", 0],
        ["path=/n/1&path=/n/2", 2],
      ] as const) {
        const exported = await ask(server, "GET", `${list}/export?path.contains=/n/&${filter}`);
        assert.equal(exported.text === "" ? 0 : exported.text.trimEnd().split("\n").length, count, filter);
        assert.equal((await ask(server, "GET", `${list}?path.contains=/n/&${filter}&limit=1000`)).body.result.length, count, filter);
      }
      const csv = await ask(server, "GET", `${list}/export?format=csv&limit=1&path=/n/0`);
      assert.match(csv.headers.get("content-disposition") ?? "", /requests\.csv/);
      const [head, line, end] = csv.text.split("\r\n");
      assert.equal(head?.split(",").length, line?.split(",").length);
      assert.match(line ?? "", /,\/n\/0,,'=crawler\/1,502,,hit,,,10,20,1\.5,$/);
      assert.equal(end, "");
    }
  });

  test("a cursor with other filters than its list's is refused", async () => {
    for (const list of [`/zones/${zone}/security/events`, `/accounts/${server.account_id}/logs/requests`]) {
      const of = (query: string) => ask(server, "GET", `${list}?per_page=1&${query}`);
      const { after: cursor } = (await of("method=GET&method=POST&since=2024-01-01T00:00:00Z")).body.result_info.cursors;
      for (const query of ["", "method=GET", "method=GET&method=POST&since=2024-01-02T00:00:00Z", "host=www.example.com"]) {
        const { status, body } = await of(`${query}&cursor=${cursor}`);
        assert.deepEqual([status, body.errors[0]?.source.pointer], [400, "/cursor"], query);
      }
      const same = await of(`since=2024-01-01T01:00:00%2B01:00&method=GET&method=POST&cursor=${cursor}`);
      assert.equal(same.status, 200, "written otherwise, they are the same");
    }
  });

  test("an account sees the events of its zones, and a token for one zone only that zone's", async () => {
    const all = await ask(server, "GET", `/accounts/${server.account_id}/security/events?path=/secret&path=/0`);
    assert.deepEqual(all.body.result.map((row: { path: string }) => row.path).toSorted(), ["/0", "/secret"]);
    const groups = await ask(server, "GET", "/user/tokens/permission_groups");
    const reads = groups.body.result.find((group: { name: string; scopes: string[] }) => group.name === "Analytics Read");
    const made = await ask(server, "POST", "/user/tokens", {
      body: {
        name: "one zone",
        policies: [
          { effect: "allow", resources: { [`com.cloudflare.api.account.zone.${zone}`]: "*" }, permission_groups: [{ id: reads.id }] },
        ],
      },
    });
    const token = made.body.result.value as string;
    assert.ok(
      (await ask(server, "GET", `/zones/${zone}/logs/requests/tail?for_seconds=1`, { token })).status >= 403,
      "is for readers of logs",
    );
    for (const path of ["", "/export", "/tail?for_seconds=1"]) {
      assert.equal((await ask(server, "GET", `/zones/${zone}/security/events${path}`, { token })).status, 200);
      assert.ok((await ask(server, "GET", `/zones/${other}/security/events${path}`, { token })).status >= 403);
      assert.ok((await ask(server, "GET", `/accounts/${server.account_id}/security/events${path}`, { token })).status >= 403);
    }
  });

  test("tail sends new matching events of its zone, and none of another", async () => {
    const reader = follow(`/zones/${zone}/security/events/tail?action=block`);
    await reader.until(": events follow");
    const sent = [
      event(zone, { path: "/live-1", action: "block" }),
      event(other, { path: "/live-other", action: "block" }),
      event(zone, { path: "/live-log", action: "log" }),
    ];
    database.insert([packed("security_events", sent)]);
    const text = await reader.until("/live-1");
    assert.ok(text.includes(`id: ${sent[0]?.id}\nevent: security_event\ndata: {`), text);
    database.insert([packed("security_events", [event(zone, { path: "/live-2", action: "block" })])]);
    const both = await reader.until("/live-2");
    assert.ok(!both.includes("/live-other") && !both.includes("/live-log"), both);
    reader.leave();

    const back = follow(`/zones/${zone}/security/events/tail?action=block`, { "last-event-id": sent[0]?.id ?? "" });
    const missed = await back.until("/live-2");
    assert.ok(!missed.includes("/live-1"), "goes on behind the event it saw last");
    back.leave();
  });

  test("a reconnecting stream continues after its last event, although its URL still names the first", async () => {
    const sent = ["/opened-1", "/opened-2", "/opened-3"].map((path) => event(zone, { path, action: "block" }));
    database.insert([packed("security_events", sent)]);
    // Clients of such streams ask the same address again and say in the header what they saw last (WHATWG HTML §9.2.3).
    const back = follow(`/zones/${zone}/security/events/tail?last_event_id=${sent[0]?.id}`, { "last-event-id": sent[1]?.id ?? "" });
    const text = await back.until("/opened-3");
    assert.ok(!text.includes("/opened-2"), text);
    back.leave();
  });

  test("a stream cut before its first event resumes at its start, and one with an unknown ID gets a notice", async () => {
    for (const [path, table, row] of [
      ["security/events/tail", "security_events", () => event(zone, { path: "/meanwhile" })],
      [
        "logs/requests/tail",
        "requests",
        () => testRequestRow({ ray_id: newRayId(START_MS), account_id: server.account_id, zone_id: zone, path: "/meanwhile" }),
      ],
    ] as const) {
      const reader = follow(`/zones/${zone}/${path}`);
      const [, began = ""] = /^id: (.+)$/m.exec(await reader.until("\n\n")) ?? [];
      assert.notEqual(began, "");
      reader.leave();
      database.insert([packed(table, [row()] as never)]);
      const back = follow(`/zones/${zone}/${path}`, { "last-event-id": began });
      assert.doesNotMatch(await back.until("/meanwhile"), /event: missed/);
      back.leave();
      for (const unknown of [began.replace(/^.{8}/, "AAAAAAAA"), "01ARZ3NDEKTSV4RRFFQ69G5FAV", "nonsense"]) {
        const lost = follow(`/zones/${zone}/${path}`, { "last-event-id": unknown });
        await lost.until('event: missed\ndata: {"events":null}\n\n');
        lost.leave();
      }
      const elsewhere = follow(`/zones/${other}/${path}`, { "last-event-id": began });
      await elsewhere.until('event: missed\ndata: {"events":null}\n\n');
      elsewhere.leave();
    }
  });

  test("tail sends all events of its own zone, however many others arrive between them", async () => {
    const reader = follow(`/zones/${other}/security/events/tail`);
    await reader.until(": events follow");
    // One batch of more rows than are sent in one go.
    const rows = Array.from({ length: 6_000 }, (_, n) => event(n % 2 === 0 ? zone : other, { path: `/flood-${n}` }));
    database.insert([packed("security_events", rows)]);
    const text = await reader.until("/flood-5999");
    assert.doesNotMatch(text, /event: missed/);
    assert.equal(text.match(/"path":"\/flood-/g)?.length, 3_000);
    reader.leave();
  });

  test("tail sends nothing after its zone is deleted", async () => {
    const gone = await createZone("gone.example");
    const reader = follow(`/zones/${gone}/security/events/tail`);
    await reader.until(": events follow");
    assert.equal((await ask(server, "DELETE", `/zones/${gone}`)).status, 200);
    database.insert([packed("security_events", [event(gone, { path: "/too-late" })])]);
    assert.doesNotMatch(await reader.ended(), /too-late/);
  });

  test("tail sends nothing after its token is revoked or loses the zone", async () => {
    const groups = PERMISSION_GROUPS.filter(({ name }) => name === "Analytics Read" || name === "Logs Read").map(({ id }) => ({ id }));
    const policies = [
      { effect: "allow", resources: { [`com.cloudflare.api.account.zone.${zone}`]: "*" }, permission_groups: groups },
    ] as const;
    const nothing = [{ ...policies[0], resources: { [`com.cloudflare.api.account.zone.${other}`]: "*" } }];
    for (const path of [`/zones/${zone}/security/events/tail`, `/zones/${zone}/logs/requests/tail`])
      for (const take of [
        (id: string) => ask(server, "DELETE", `/user/tokens/${id}`),
        (id: string) => ask(server, "PUT", `/user/tokens/${id}`, { body: { name: "follower", policies, status: "disabled" } }),
        (id: string) => ask(server, "PUT", `/user/tokens/${id}`, { body: { name: "follower", policies: nothing } }),
      ]) {
        const { id, value } = (await ask(server, "POST", "/user/tokens", { body: { name: "follower", policies } })).body.result;
        const reader = follow(path, { authorization: `Bearer ${value}` });
        await reader.until(": events follow");
        assert.equal((await take(id)).status, 200);
        database.insert([
          packed("security_events", [event(zone, { path: "/too-late" })]),
          packed("requests", [
            testRequestRow({ ray_id: newRayId(START_MS), account_id: server.account_id, zone_id: zone, path: "/too-late" }),
          ]),
        ]);
        assert.doesNotMatch(await reader.ended(), /too-late/);
      }
  });

  test("events tail prints new events, and the API's error if it is refused", async () => {
    const tail = (...args: readonly string[]) =>
      spawn(process.execPath, [PROGRAM, "events", "tail", "--api", server.url, "--token", server.token, ...args], {
        stdio: ["ignore", "pipe", "pipe"],
      });
    const child = tail("--zone", "one.example", "--filter", "path=/printed", "--json");
    let printed = "";
    child.stdout.on("data", (bytes: Buffer) => (printed += bytes.toString()));
    await eventually(() => {
      database.insert([packed("security_events", [event(zone, { path: "/printed" }), event(zone, { path: "/other" })])]);
      return printed.includes("\n");
    }, 250);
    child.kill();
    assert.equal(JSON.parse(printed.split("\n")[0] ?? "").path, "/printed");
    // Without Zone Read no token finds a zone by its name.
    const byId = tail("--zone", zone, "--for", "1");
    assert.deepEqual(await once(byId, "exit"), [0, null]);
    const unknown = tail("--zone", "none.example");
    assert.match(
      await text(unknown.stderr),
      /this token cannot access a zone none\.example; without Zone Read, use the identifier of the zone/,
    );
    const refused = tail("--zone", "one.example", "--filter", "client_ip=nowhere");
    const [complaint, [code]] = await Promise.all([text(refused.stderr), once(refused, "exit")]);
    assert.match(complaint, /"client_ip" must be an IP address or a network/);
    assert.equal(code, 1);
  });

  test("request logs can be followed too, after the last seen row, and from the command line", async () => {
    const request = (path: string, zone_id = zone) =>
      testRequestRow({ ray_id: newRayId(START_MS), at_ms: START_MS, account_id: server.account_id, zone_id, path });
    const tail = `/zones/${zone}/logs/requests/tail`;
    const reader = follow(tail);
    await reader.until(": events follow");
    const first = request("/first");
    database.insert([packed("requests", [request("/of-another", other), first, request("/second")])]);
    const both = await reader.until("/second");
    assert.ok(both.includes(`id: ${first.ray_id}\nevent: request\ndata: {`), both);
    assert.ok(!both.includes("/of-another"), both);
    reader.leave();
    const back = follow(tail, { "last-event-id": first.ray_id });
    assert.ok(!(await back.until("/second")).includes("/first"), "goes on behind the request it saw last");
    back.leave();

    const args = ["events", "tail", "--requests", "--zone", "one.example", "--filter", "path=/printed"];
    const child = spawn(process.execPath, [PROGRAM, ...args, "--api", server.url, "--token", server.token], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    child.stdout.on("data", (bytes: Buffer) => (printed += bytes.toString()));
    await eventually(() => {
      database.insert([packed("requests", [request("/printed"), request("/not-asked-for")])]);
      return printed.includes("\n");
    }, 250);
    child.kill();
    assert.match(printed, / 200 .* GET \S+\/printed\n/);
    assert.doesNotMatch(printed, /not-asked-for/);
  });

  test("HEAD of a stream ends at once", async () => {
    const { status, text } = await ask(server, "HEAD", `/zones/${zone}/security/events/tail`);
    assert.deepEqual([status, text], [200, ""]);
  });

  /** A client of event streams, by hand. */
  function follow(path: string, headers: Readonly<Record<string, string>> = {}) {
    const url = new URL(server.url + path);
    const socket = connect(Number(url.port), url.hostname);
    const fields = Object.entries({ host: url.host, authorization: `Bearer ${server.token}`, ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\n${fields.join("")}\r\n`);
    let text = "";
    socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
    const until = async (wanted: string): Promise<string> => {
      return readUntil(
        () => text,
        (received) => received.includes(wanted),
      );
    };
    /** All of it, once the server has ended it. */
    const ended = async (): Promise<string> => {
      await readUntil(
        () => text,
        (received) => received.endsWith("\r\n0\r\n\r\n"),
      );
      socket.destroy();
      return text;
    };
    return { until, ended, leave: () => socket.destroy() };
  }
});

test("an export that cannot start gives an error status, in either format, and no file", async (t) => {
  const server = await startApi();
  t.after(() => server.close());
  const { body } = await ask(server, "POST", "/zones", { body: { name: "damaged.example", account: { id: server.account_id } } });
  writeFileSync(server.eventsPath, "no database ".repeat(4096));
  for (const list of ["security/events", "logs/requests"])
    for (const format of ["csv", "ndjson"]) {
      const { status, headers, body: told } = await ask(server, "GET", `/zones/${body.result.id}/${list}/export?format=${format}`);
      assert.deepEqual([status, told.errors[0].code, headers.get("content-disposition")], [503, 10504, null]);
    }
});

test("a query for one ray reads only rows of its time, by parameter and by GraphQL", async (t) => {
  const server = await startApi();
  t.after(() => server.close());
  const { body } = await ask(server, "POST", "/zones", { body: { name: "ray.example", account: { id: server.account_id } } });
  const zone_id = body.result.id as string;
  const rows = [START_MS, START_MS + 10 * HOUR_MS].map((begin) =>
    Array.from({ length: 100 }, (_, n) =>
      testRequestRow({ ray_id: newRayId(begin + n), at_ms: begin + n, account_id: server.account_id, zone_id }),
    ),
  );
  const database = openEventDatabase(server.eventsPath);
  for (const block of rows) database.insert([packed("requests", block)]);
  database.close();
  // Rows of other times are damaged: the query does not need them.
  const file = new DatabaseSync(server.eventsPath);
  file.prepare("UPDATE requests_blocks SET data = x'00' WHERE from_ms > ?").run(START_MS + HOUR_MS);
  file.close();
  const ray = rows[0]![7]!.ray_id;
  const list = await ask(server, "GET", `/zones/${zone_id}/logs/requests?ray_id=${ray}`);
  assert.deepEqual([list.body.result_info?.total_count, list.body.result?.[0].ray_id], [1, ray]);
  const filter = `filter: { rayName: "${ray}" }`;
  const query = `{ viewer { zones(filter: { zoneTag: "${zone_id}" }) {
    httpRequestsAdaptive(limit: 5, ${filter}) { rayName } httpRequestsAdaptiveGroups(limit: 5, ${filter}) { count } } } }`;
  const { data } = (await ask(server, "POST", "/graphql", { body: { query } })).body;
  const found = { httpRequestsAdaptive: [{ rayName: ray }], httpRequestsAdaptiveGroups: [{ count: 1 }] };
  assert.deepEqual(data?.viewer.zones, [found]);
});
