import assert from "node:assert/strict";
import { test } from "node:test";
import type { TunnelLink } from "#kernel/process/tunnel-link.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import { compileIngress, IngressError, ingressFor, parseService } from "#model/tunnels/ingress-rules.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { storeTest } from "../../../test/support/store.ts";

const PAGE = { page: 1, per_page: 20 };
const SECRET = Buffer.alloc(32, 7).toString("base64");

const entriesOf = async (store: Store) =>
  (await rebuildSnapshot(store)).ops.flatMap((op) => (op.kind === "tunnel" ? [{ id: op.id, ...op.value }] : []));

const link = (tunnel_id: string, n: number, connector = 1): TunnelLink => ({
  id: `00000000-0000-4000-8000-00000000000${n}`,
  connector_id: `00000000-0000-4000-8000-0000000000a${connector}`,
  ...{ tunnel_id, version: "1", arch: "linux_x64", features: [], address: "192.0.2.1", config_version: 0, draining: false },
  ...{ run_at: "2026-01-01T00:00:00.000Z", opened_at: `2026-01-01T00:00:0${n}.000Z` },
});

storeTest(
  "a tunnel has a unique name, a token with its secret, and an entry without a readable secret until it is deleted",
  async ({ store }) => {
    const { control, account_id, call } = await controlOver(store);
    const { tunnels } = control;
    const made = await tunnels.create(call(), account_id, { name: "office", tunnel_secret: SECRET });
    assert.deepEqual([made.status, made.config_src, made.remote_config, made.connections], ["inactive", "local", false, []]);
    await assert.rejects(tunnels.create(call(), account_id, { name: "office" }), failing(1013, "/name"));
    await assert.rejects(tunnels.create(call(), account_id, { name: "b", tunnel_secret: "c2hvcnQ=" }), failing(1056, "/tunnel_secret"));
    const token = JSON.parse(Buffer.from(await tunnels.token(account_id, made.id), "base64").toString());
    assert.deepEqual([token.a, token.t, token.s], [account_id, made.id, SECRET]);
    const [entry] = await entriesOf(store);
    assert.deepEqual([entry?.id, entry?.account_id, JSON.stringify(entry).includes(SECRET)], [made.id, account_id, false]);
    const edited = await tunnels.edit(call(), account_id, made.id, { name: "home", tunnel_secret: Buffer.alloc(32, 8).toString("base64") });
    assert.equal(edited.name, "home");
    assert.equal((await tunnels.edit(call(), account_id, made.id, {})).name, "home");
    assert.notEqual((await entriesOf(store))[0]?.secret, entry?.secret);
    const audit = await store.read.selectFrom("audit_log").select(["action", "after"]).where("action", "like", "tunnel.%").execute();
    assert.ok(!JSON.stringify(audit).includes(SECRET));
    const gone = await tunnels.remove(call(), account_id, made.id, false);
    assert.ok(gone.deleted_at !== null);
    assert.deepEqual(await entriesOf(store), []);
    await assert.rejects(tunnels.token(account_id, made.id), failing(1003));
    const names = async (query: object) => (await tunnels.list(account_id, query, PAGE)).items.map(({ name }) => name);
    await tunnels.create(call(), account_id, { name: "home" });
    assert.deepEqual(await names({}), ["home", "home"], "a deleted tunnel is listed, and its name is free");
    assert.deepEqual(await names({ is_deleted: false, include_prefix: "ho", exclude_prefix: "x", status: "inactive" }), ["home"]);
    assert.deepEqual(await names({ existed_at: "2000-01-01T00:00:00Z" }), []);
  },
);

storeTest("reported connections give a tunnel its status, and keep it from being deleted", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { tunnels } = control;
  const { id } = await tunnels.create(call(), account_id, { name: "office" });
  const status = async () => (await tunnels.get(account_id, id)).status;
  await tunnels.report("edge-1", [link(id, 1)]);
  assert.equal(await status(), "degraded");
  await tunnels.report("edge-2", [link(id, 2, 2)]);
  assert.equal(await status(), "healthy");
  const connectors = await tunnels.connectors(account_id, id);
  assert.deepEqual(
    connectors.map(({ conns }) => conns.length),
    [1, 1],
  );
  assert.equal((await tunnels.connector(account_id, id, connectors[1]?.id ?? "")).conns[0]?.origin_ip, "192.0.2.1");
  await tunnels.report("edge-2", [{ ...link(id, 2, 2), config_version: 4 }, link(id, 4, 2)]);
  const redialled = await tunnels.connector(account_id, id, connectors[1]?.id ?? "");
  assert.deepEqual([redialled.conns.length, redialled.config_version], [2, 4], "a new connection has not confirmed the rules");
  await assert.rejects(tunnels.connector(account_id, id, id), failing(1003));
  await assert.rejects(tunnels.remove(call(), account_id, id, false), failing(1022));
  assert.ok((await tunnels.get(account_id, id)).conns_active_at !== null);
  await tunnels.disconnect(call(), account_id, id, connectors[0]?.id);
  assert.equal((await entriesOf(store))[0]?.ended?.[0]?.connector, connectors[0]?.id);
  await tunnels.report("edge-1", []);
  await tunnels.report("edge-2", []);
  const down = await tunnels.get(account_id, id);
  assert.deepEqual([down.status, down.conns_active_at, down.conns_inactive_at !== null], ["down", null, true]);
  await tunnels.report("edge-1", [link(id, 3)]);
  await tunnels.remove(call(), account_id, id, true);
  assert.deepEqual(await entriesOf(store), []);
});

storeTest("a configuration is checked, counts its versions, and reaches the planes", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { tunnels } = control;
  const { id } = await tunnels.create(call(), account_id, { name: "office" });
  assert.deepEqual((await tunnels.configuration(account_id, id)).config, null);
  const rules = [{ hostname: "a.example", service: "http://127.0.0.1:80" }, { service: "http_status:404" }];
  const first = await tunnels.configure(call(), account_id, id, { config: { ingress: rules } });
  assert.deepEqual([first.version, first.source], [1, "cloudflare"]);
  await assert.rejects(tunnels.configure(call(), account_id, id, { config: { ingress: [rules[0]!] } }), failing(1056, "/config/ingress/0"));
  const second = await tunnels.configure(call(), account_id, id, { config: { ingress: [rules[1]!] } });
  assert.equal(second.version, 2);
  assert.deepEqual((await entriesOf(store))[0]?.config, { version: 2, rules: { ingress: [rules[1]] } });
});

test("the first ingress rule that matches host and path decides", () => {
  const rules = compileIngress({
    ingress: [
      { hostname: "a.example", path: "^/api/", service: "http://10.0.0.1:8080" },
      { hostname: "*.example", service: "https://origin.internal" },
      { path: "\\.(jpg|png)$", service: "tcp://[::1]:22" },
      { service: "http_status:404" },
    ],
    originRequest: { noTLSVerify: true },
  });
  const serviceOf = (host: string, path: string) => ingressFor(rules, host, path)?.service;
  assert.deepEqual(serviceOf("a.example", "/api/x"), { kind: "http", host: "10.0.0.1", port: 8080 });
  assert.deepEqual(serviceOf("a.example", "/x"), { kind: "https", host: "origin.internal", port: 443 });
  assert.deepEqual(serviceOf("b.other", "/a.png"), { kind: "tcp", host: "::1", port: 22 });
  assert.deepEqual(serviceOf("b.c.example", "/"), { kind: "status", status: 404 });
  assert.deepEqual(ingressFor(rules, "b.example", "/")?.origin, { noTLSVerify: true });
  assert.deepEqual(parseService("http://a:80", ""), { kind: "http", host: "a", port: 80 });
});

test("an ingress rule that cannot work is refused with its place", () => {
  const all = { service: "http_status:404" };
  const faults: readonly (readonly [object, string])[] = [
    [{ ingress: [all, all] }, "/config/ingress/0"],
    [{ ingress: [{ hostname: "a_b..c", service: "http://a" }, all] }, "/config/ingress/0/hostname"],
    [{ ingress: [{ path: "(", service: "http://a" }, all] }, "/config/ingress/0/path"],
    [{ ingress: [{ service: "ftp://a" }] }, "/config/ingress/0/service"],
    [{ ingress: [{ service: "tcp://a" }] }, "/config/ingress/0/service"],
    [{ ingress: [{ service: "http://a/path" }] }, "/config/ingress/0/service"],
    [{ ingress: [{ service: "http_status:99" }] }, "/config/ingress/0/service"],
    [{ ingress: [{ service: "http_status:101" }] }, "/config/ingress/0/service"],
    [{ ingress: [{ service: "http://a", originRequest: { http2Origin: true } }] }, "/config/ingress/0/originRequest/http2Origin"],
    ...["a\r\nX: y", "a b", "é.test", "a:99999999", "x/y"].map(
      (httpHostHeader) => [{ originRequest: { httpHostHeader } }, "/config/originRequest/httpHostHeader"] as const,
    ),
    [{ originRequest: { originServerName: "a\r\nb" } }, "/config/originRequest/originServerName"],
    [{ originRequest: { access: { required: true, teamName: "t", audTag: [] } } }, "/config/originRequest/access"],
    [{ "warp-routing": { enabled: true } }, "/config/warp-routing"],
  ];
  for (const [config, source] of faults)
    assert.throws(
      () => compileIngress(config),
      (error) => error instanceof IngressError && error.source === source,
      JSON.stringify(config),
    );
  for (const port of ["0", "65536", "99999", "123456"])
    assert.throws(() => parseService(`http://a:${port}`, "/service"), /needs a port between 1 and 65535/, port);
});
