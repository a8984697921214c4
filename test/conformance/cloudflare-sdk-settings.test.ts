import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Cloudflare from "cloudflare";
import { type ApiServer, startApi } from "../support/api-server.ts";
import { failing } from "../support/vendor-client.ts";

// The vendor's own TypeScript client on the settings of a zone's traffic, over real HTTP.
let server: ApiServer;
let client: Cloudflare;
let zone_id: string;

before(async () => {
  server = await startApi();
  client = new Cloudflare({ apiToken: server.token, baseURL: server.url, maxRetries: 0 });
  zone_id = (await client.zones.create({ account: { id: server.account_id }, name: "settings.test" })).id;
});
after(() => server.close());

test("zones.settings: get and edit", async () => {
  const shown = await client.zones.settings.get("ssl", { zone_id });
  assert.deepEqual(shown, { id: "ssl", value: "flexible", editable: true, modified_on: null });
  const edited = await client.zones.settings.edit("ssl", { zone_id, value: "full" });
  assert.deepEqual("value" in edited && edited.value, "full");
  const header = { strict_transport_security: { enabled: true, max_age: 600, include_subdomains: false, preload: false, nosniff: true } };
  await client.zones.settings.edit("security_header", { zone_id, value: header });
  const secured = await client.zones.settings.get("security_header", { zone_id });
  assert.deepEqual("value" in secured && secured.value, header);
  const http3 = await client.zones.settings.get("http3", { zone_id });
  assert.deepEqual(http3, { id: "http3", value: "off", editable: true, modified_on: null });
  const kept = await client.zones.settings.edit("http3", { zone_id, value: "on" });
  const { value, note } = kept as { value?: unknown; note?: string };
  assert.deepEqual([value, note], ["on", "It has no effect: HTTP/3 is not supported."]);
  await assert.rejects(client.zones.settings.edit("http3", { zone_id, value: "maybe" as "on" }), failing(400, 1007));
  await assert.rejects(client.zones.settings.get("no_such_setting", { zone_id }), failing(404, 1006));
  await assert.rejects(client.zones.settings.get("brotli", { zone_id }), failing(410, 10410));
});

test("development mode shows its remaining time, in the setting and in the zone", async () => {
  await client.zones.settings.edit("development_mode", { zone_id, value: "on" });
  const mode = await client.zones.settings.get("development_mode", { zone_id });
  assert.ok("time_remaining" in mode && mode.time_remaining !== undefined && mode.time_remaining > 10_700);
  assert.ok((await client.zones.get({ zone_id })).development_mode > 10_700);
});
