import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { connect, jwtAuthenticator } from "@nats-io/transport-node";
import { TYPE } from "#wire/dns/codes.ts";
import { succeed } from "../support/api.ts";
import { queryFor } from "../support/dns-client.ts";
import { eventually } from "../support/eventually.ts";
import { startFakePrimary, zoneVersion } from "../support/fake-primary.ts";
import { type FleetWorld, startFleet } from "../support/fleet.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = toolOrSkip("nats-server") || toolOrSkip("postgres");
const PAGE_HOST = "www.shield.test";

async function serve(t: TestContext, body: string, type: string): Promise<number> {
  const server = createServer((_, answer) => answer.setHeader("content-type", type).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A visitor's request to an edge; the status. */
async function visit(url: string, host: string, path: string, body?: string): Promise<number> {
  const asked = request(new URL(path, url), { method: body === undefined ? "GET" : "POST", headers: { host }, agent: false });
  asked.end(body);
  const [answer] = await once(asked, "response");
  answer.resume();
  return answer.statusCode;
}

/** A zone whose name `www` leads through the edge to an origin. */
async function makeSite({ call, account }: FleetWorld, name: string, origin: number): Promise<string> {
  const { id } = await succeed(call("POST", "/zones", { name, account: { id: account } }));
  await succeed(call("POST", `/zones/${id}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
  const route = { action: "route", expression: "true", action_parameters: { origin: { port: origin } } };
  await succeed(call("PUT", `/zones/${id}/rulesets/phases/http_request_origin/entrypoint`, { rules: [route] }));
  return `/zones/${id}`;
}

test("reports of a node's planes reach control, also those made while the bus was away", { skip }, async (t) => {
  const world = await startFleet(t);
  const { call, account } = world;
  const node = await world.start(await world.join("fra-1", "edge,nameserver,gateway"));
  const origin = await serve(t, "<p>page</p>", "text/html");

  // Page Shield: a browser's report.
  const zone = await makeSite(world, "shield.test", origin);
  await succeed(call("PUT", `${zone}/page_shield`, { enabled: true }));
  const report = (script: string): string =>
    JSON.stringify({
      "csp-report": { "document-uri": `http://${PAGE_HOST}/`, "blocked-uri": script, "effective-directive": "script-src-elem" },
    });
  const send = (script: string) => visit(node.ready.http, PAGE_HOST, "/cdn-cgi/script_monitor/report", report(script));
  const scripts = async (): Promise<string[]> =>
    ((await succeed(call("GET", `${zone}/page_shield/scripts`))) as { readonly url: string }[]).map(({ url }) => url);
  assert.equal(await send("https://cdn.example/one.js"), 204);
  await eventually(async () => (await scripts()).length === 1);

  // Gateway: the first request with a token makes the account's default gateway.
  const gateways = `/accounts/${account}/ai-gateway/gateways`;
  assert.equal((await call("GET", `${gateways}/default`)).status, 404);
  await fetch(`${node.ready.gateway}/v1/${account}/default/openai/chat/completions`, {
    method: "POST",
    headers: { "cf-aig-authorization": `Bearer ${world.token}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "m", messages: [] }),
  }).then((answer) => answer.arrayBuffer());
  await eventually(async () => (await call("GET", `${gateways}/default`)).status === 200);

  // Nameserver: a primary's NOTIFY.
  const name = "secondary.test";
  const version = (serial: number) => zoneVersion(name, serial, [`${name} 300 NS ns1.${name}`, `www.${name} 300 A 192.0.2.${serial}`]);
  const primary = await startFakePrimary([version(1)]);
  t.after(() => primary.close());
  const peer = await succeed(
    call("POST", `/accounts/${account}/secondary_dns/peers`, { name: "primary", ip: "127.0.0.1", port: primary.port }),
  );
  const secondary = await succeed(call("POST", "/zones", { name, account: { id: account }, type: "secondary" }));
  const incoming = `/zones/${secondary.id}/secondary_dns/incoming`;
  await succeed(call("POST", incoming, { name: `${name}.`, peers: [peer.id], auto_refresh_seconds: 86_400 }));
  const serial = async (): Promise<number> => (await succeed(call("GET", incoming))).soa_serial;
  await eventually(async () => (await serial()) === 1);
  primary.versions = [version(2)];
  const notify = queryFor(name, TYPE.SOA, 7);
  notify[2] = 0x24; // Opcode 4 and AA (RFC 1996 §3.7).
  const socket = createSocket("udp4");
  t.after(() => socket.close());
  socket.send(notify, Number(new URL(`udp://${node.ready.dns}`).port), "127.0.0.1");
  await eventually(async () => (await serial()) === 2);

  await world.nats.kill();
  assert.equal(await send("https://cdn.example/two.js"), 204);
  await world.nats.start();
  await eventually(async () => (await scripts()).includes("https://cdn.example/two.js"));
});

test("a tunnel shows its connections to an edge on a node, and is down without the node", { skip }, async (t) => {
  const world = await startFleet(t);
  const { call, account } = world;
  const dataDir = await world.join("ams-1", "edge");
  const node = await world.start(dataDir);
  const service = await serve(t, "office", "text/plain");
  const zone = await makeSite(world, "office.test", service);
  const tunnels = `/accounts/${account}/cfd_tunnel`;
  const tunnel = await succeed(call("POST", tunnels, { name: "office", config_src: "cloudflare" }));
  await succeed(
    call("PUT", `${tunnels}/${tunnel.id}/configurations`, { config: { ingress: [{ service: `http://127.0.0.1:${service}` }] } }),
  );
  await succeed(
    call("POST", `${zone}/dns_records`, { type: "CNAME", name: "app", content: `${tunnel.id}.tunnel.internal`, proxied: true }),
  );
  const token = await succeed(call("GET", `${tunnels}/${tunnel.id}/token`));
  const status = async (): Promise<string> => (await succeed(call("GET", `${tunnels}/${tunnel.id}`))).status;
  assert.equal(await status(), "inactive");

  const other = await world.start(await world.join("fra-1", "edge"));
  const hosts = [node, other].map(({ ready }) => new URL(ready.https).host);
  const edges = hosts.flatMap((host) => ["--edge", host]);
  const connector = spawn(process.execPath, ["bin/selvedge.js", "tunnel", "run", token, ...edges], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => connector.kill("SIGKILL"));
  const ended = once(connector, "exit").then(([code]) => Promise.reject(new Error(`the connector ended with ${code}`)));
  await Promise.race([once(createInterface({ input: connector.stdout }), "line"), ended]);
  ended.catch(() => undefined);
  // Each edge has connections of the one connector.
  for (const { ready } of [node, other]) await eventually(async () => (await visit(ready.http, "app.office.test", "/")) === 200);
  await eventually(async () => (await status()) === "healthy");
  assert.equal((await succeed(call("GET", `${tunnels}/${tunnel.id}/connections`))).length, 1);
  await world.restartControl();
  await eventually(async () => (await status()) === "healthy");

  // Its credentials report for no plane that it does not have.
  const { jwt, seed } = JSON.parse(readFileSync(join(dataDir, "node.json"), "utf8"));
  const authenticator = jwtAuthenticator(jwt, Buffer.from(seed));
  const bus = await connect({ servers: world.nats.url, authenticator, inboxPrefix: "_INBOX_ams-1" });
  t.after(() => bus.close());
  // Nothing answers until control leads again.
  const ask = async (message: string): Promise<string> =>
    bus.request("sv.report.ams-1", message, { timeout: 2_000 }).then(
      (answer) => answer.string(),
      () => "",
    );
  const foreign = { kind: "default-gateway", account_id: account, at_ms: 1 };
  const mixed = JSON.stringify({ notices: [foreign, { kind: "sighting" }, null, 7] });
  await eventually(async () => (await ask(mixed)) === '{"taken":true}');
  assert.equal((await call("GET", `/accounts/${account}/ai-gateway/gateways/default`)).status, 404);
  const flood = await Promise.all(Array.from({ length: 200 }, () => ask('{"notices":[]}')));
  assert.ok(flood.includes('{"error":"too many messages"}'));

  await node.kill();
  assert.equal(await visit(other.ready.http, "app.office.test", "/"), 200);
  await other.kill();
  await eventually(async () => (await status()) === "down");
});
