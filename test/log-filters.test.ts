import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type EventDatabase, openEventDatabase } from "#events/database/database.ts";
import { packed, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { type ApiServer, ask, startApi } from "./support/api-server.ts";

const START_MS = Date.parse("2026-01-31T08:00:00Z");

describe("filters of logs", () => {
  let server: ApiServer;
  let database: EventDatabase;
  let zone = "";
  let paths: readonly string[] = [];
  before(async () => {
    server = await startApi();
    database = openEventDatabase(server.eventsPath);
    const made = await ask(server, "POST", "/zones", { body: { name: "one.example", account: { id: server.account_id } } });
    zone = made.body.result.id;
    const of = { zone_id: zone, account_id: server.account_id, at_ms: START_MS };
    const clients = ["192.0.2.7", "192.0.3.7", "2001:db8::7"];
    database.insert([
      packed(
        "security_events",
        clients.map((client_ip) => testSecurityRow({ ...of, client_ip })),
      ),
      packed(
        "requests",
        clients.map((client_ip) => testRequestRow({ ...of, client_ip })),
      ),
    ]);
    const scopes = [`/zones/${zone}`, `/accounts/${server.account_id}`];
    paths = [
      ...scopes.flatMap((scope) => ["", "/export", "/tail"].map((part) => `${scope}/security/events${part}`)),
      ...["", "/tail"].map((part) => `/zones/${zone}/logs/requests${part}`),
    ];
  });
  after(async () => {
    database.close();
    await server.close();
  });

  test("an empty time range is refused, and errors point at an invalid time or address", async () => {
    for (const [query, pointer] of [
      ["since=2026-01-31T09:00:00Z&until=2026-01-31T08:00:00Z", "/since"],
      ["since=2026-01-31T08:00:00Z&until=2026-01-31T09:00:00%2B01:00", "/since"],
      ["since=yesterday", "/since"],
      ["until=2026-02-30T00:00:00Z", "/until"],
      ["client_ip=300.1.1.1", "/client_ip"],
      ["client_ip=192.0.2.0/33", "/client_ip"],
    ]) {
      for (const path of paths) {
        const { status, body } = await ask(server, "GET", `${path}?${query}`);
        assert.deepEqual([status, body.success, body.errors[0]?.source?.pointer], [400, false, pointer], `${path}?${query}`);
      }
    }
  });

  test("a filter finds IPv4 addresses and networks in any notation", async () => {
    for (const path of [`/zones/${zone}/security/events`, `/zones/${zone}/logs/requests`]) {
      const found = async (client_ip: string): Promise<readonly string[]> => {
        const { body } = await ask(server, "GET", `${path}?client_ip=${encodeURIComponent(client_ip)}`);
        return body.result.map((row: { client_ip: string }) => row.client_ip).toSorted();
      };
      assert.deepEqual(await found("::ffff:192.0.2.0/120"), ["192.0.2.7"]);
      assert.deepEqual(await found("::FFFF:C000:207"), ["192.0.2.7"]);
      assert.deepEqual(await found("::ffff:0:0/96"), ["192.0.2.7", "192.0.3.7"]);
      assert.deepEqual(await found("192.0.2.9/23"), ["192.0.2.7", "192.0.3.7"]);
      assert.deepEqual(await found("::/0"), ["2001:db8::7"]);
    }
  });

  test("an unknown value is refused with the list of known ones, and known ones match in any case", async () => {
    const events = `/zones/${zone}/security/events`;
    for (const [query, pointer, known] of [
      ["action=blok", "/action", "block"],
      ["action=block&action=deny", "/action", "managed_challenge"],
      ["service=dlp", "/service", "Data Loss Protection"],
      ["phase=http_request_firewall", "/phase", "http_request_firewall_custom"],
    ] as const) {
      for (const path of [events, `${events}/export`, `${events}/tail`]) {
        const { status, body } = await ask(server, "GET", `${path}?${query}`);
        assert.deepEqual([status, body.errors[0]?.code, body.errors[0]?.source?.pointer], [400, 10400, pointer], `${path}?${query}`);
        assert.ok(body.errors[0]?.message.includes(known), body.errors[0]?.message);
      }
    }
    for (const action of ["allow", "bypass", "log", "skip", "challenge"])
      assert.equal((await ask(server, "GET", `${events}?action=${action}`)).status, 200, action);
    const requests = `/zones/${zone}/logs/requests`;
    assert.deepEqual((await ask(server, "GET", `${requests}?scheme=ftp`)).body.errors[0]?.source?.pointer, "/scheme");
    const row = (await ask(server, "GET", requests)).body.result[0];
    for (const path of [events, requests]) {
      for (const query of [`host=${row.host.toUpperCase()}`, `method=${row.method.toLowerCase()}`]) {
        const { body } = await ask(server, "GET", `${path}?${query}`);
        assert.equal(body.result.length, 3, `${path}?${query}`);
      }
    }
    database.insert([packed("requests", [testRequestRow({ zone_id: zone, at_ms: START_MS, cache_status: "HIT", country: "SE" })])]);
    database.insert([packed("requests", [testRequestRow({ zone_id: zone, at_ms: START_MS, host: "xn--bcher-kva.example" })])]);
    for (const query of ["cache_status=hit", "cache_status=HIT", "country=se", "host=xn--bcher-kva.example.", "host=B%C3%BCcher.example"])
      assert.equal((await ask(server, "GET", `${requests}?${query}`)).body.result.length, 1, query);
  });

  test("gateway logs: an inverted time range and an unknown parameter are refused", async () => {
    const plain = { cache_invalidate_on_update: true, cache_ttl: null, collect_logs: true };
    const gateway = { id: "walk", ...plain, rate_limiting_interval: null, rate_limiting_limit: null };
    assert.equal((await ask(server, "POST", `/accounts/${server.account_id}/ai-gateway/gateways`, { body: gateway })).status, 200);
    const logs = `/accounts/${server.account_id}/ai-gateway/gateways/walk/logs`;
    for (const [query, pointer] of [
      ["start_date=2026-01-31T09:00:00Z&end_date=2026-01-31T08:00:00Z", "/start_date"],
      ["start_date=yesterday", "/start_date"],
      ["end_date=soon", "/end_date"],
      ["providr=openai", "/providr"],
      ["filters.value=openai", "/filters"],
    ]) {
      const { status, body } = await ask(server, "GET", `${logs}?${query}`);
      assert.deepEqual([status, body.errors[0]?.code, body.errors[0]?.source?.pointer], [400, 7001, pointer], query);
    }
    const moment = "start_date=2026-01-31T08:00:00Z&end_date=2026-01-31T08:00:00Z";
    assert.equal((await ask(server, "GET", `${logs}?${moment}&page=1&per_page=5`)).status, 200, "both bounds include their time");
  });
});
