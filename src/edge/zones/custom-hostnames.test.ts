import assert from "node:assert/strict";
import { request as httpsRequest } from "node:https";
import { createServer as createHttpsServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { EDGE_ERRORS, type EdgeErrorName } from "#edge/pages/edge-errors.ts";
import { escapeHtml } from "#kernel/escape-html.ts";
import type { CustomHostnameEntry, Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { fc } from "../../../test/support/property.ts";
import { exchangeRaw, httpOrigin, routeOp, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { recordOp, rulesetOp, zoneOp } from "#edge/testing/entries.ts";
import { createZones } from "./zones.ts";

const ID = "0b5a9d9c-3a52-4f0e-9f5d-0f3f5b0c2a10";

const hostnameOp = (hostname: string, more: Partial<CustomHostnameEntry> = {}, id = `id-${hostname}`): Op => ({
  kind: "custom_hostname",
  id,
  value: { zone_id: "zone", hostname, wildcard: false, active: true, token: `token of ${hostname}`, ...more },
});
const fallbackOp = (origin: string | null): Op => ({ kind: "fallback_origin", id: "zone", value: origin === null ? null : { origin } });

let edge: TestEdge;
let origin: TestOrigin;
const asked: string[] = [];

before(async () => {
  origin = await httpOrigin((req, res) => {
    asked.push(req.headers.host ?? "");
    res.setHeader("content-type", "text/css");
    res.end(`${req.headers.host} ${req.headers["x-customer"] ?? ""}`);
  });
  edge = await startEdge([
    zoneOp("zone", "service.example"),
    recordOp("origin", "zone", "origin.service.example", "A", "127.0.0.1"),
    recordOp("own", "zone", "own.service.example", "A", "127.0.0.1"),
    routeOp(origin.port),
    fallbackOp("origin.service.example"),
    hostnameOp("shop.customer.example"),
    hostnameOp("wait.customer.example", { active: false }, ID),
  ]);
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

const get = (host: string, path = "/"): Promise<string> =>
  exchangeRaw(edge.http, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
const statusOf = async (host: string): Promise<string> => (await get(host)).slice(9, 12);

test("the edge serves a custom hostname from the fallback origin, under the hostname", async () => {
  const answer = await get("shop.customer.example");
  assert.match(answer, /^HTTP\/1\.1 200 /);
  assert.match(answer, /shop\.customer\.example $/);
  const row = edge.requests.at(-1);
  assert.deepEqual([row?.zone_id, row?.host], ["zone", "shop.customer.example"]);
});

/** The cause, which must be the same in the page and in the request row. */
async function causeAt(host: string): Promise<EdgeErrorName> {
  const answer = await get(host);
  assert.match(answer, /^HTTP\/1\.1 530 [^]*Error 1016/);
  const row = edge.requests.at(-1);
  assert.deepEqual([row?.host, row?.edge_error], [host, "1016"]);
  const name = row?.edge_error_name as EdgeErrorName;
  assert.ok(answer.includes(escapeHtml(EDGE_ERRORS[name].message)), name);
  return name;
}

test("SPEC 7.5, error 1016: each cause has its own text", async () => {
  assert.equal(await causeAt("wait.customer.example"), "hostname_pending");
  assert.equal(await causeAt("nobody.customer.example"), "unroutable");
  edge.replica.apply([fallbackOp(null)]);
  assert.equal(await causeAt("shop.customer.example"), "fallback_origin_missing");
  edge.replica.apply([fallbackOp("absent.service.example")]);
  assert.equal(await causeAt("shop.customer.example"), "hostname_origin_missing");
  edge.replica.apply([fallbackOp("origin.service.example")]);
  assert.equal(await statusOf("shop.customer.example"), "200");
  edge.replica.apply([{ kind: "custom_hostname", id: "id-shop.customer.example", value: null }]);
  assert.equal(await statusOf("shop.customer.example"), "530");
  edge.replica.apply([hostnameOp("shop.customer.example")]);
  assert.equal(await statusOf("shop.customer.example"), "200");
});

test("SPEC 7.5, error 1016: a zone of the name wins over a wildcard hostname, but not over an exact one", async () => {
  edge.replica.apply([hostnameOp("customer.example", { wildcard: true })]);
  assert.equal(await statusOf("any.customer.example"), "200");
  assert.equal(await statusOf("a.b.customer.example"), "200");
  edge.replica.apply([zoneOp("other", "any.customer.example")]);
  assert.equal(await causeAt("any.customer.example"), "wildcard_shadowed", "the zone has no record, and its priority wins all the same");
  edge.replica.apply([hostnameOp("any.customer.example")]);
  assert.equal(await statusOf("any.customer.example"), "200");
  edge.replica.apply([
    { kind: "custom_hostname", id: "id-any.customer.example", value: null },
    { kind: "zone", id: "other", value: null },
    { kind: "custom_hostname", id: "id-customer.example", value: null },
  ]);
  assert.equal(await statusOf("any.customer.example"), "530");
});

test("the edge shows a hostname's validation token only under that name, if the hostname's account serves it", async () => {
  const path = `/.well-known/cf-custom-hostname-challenge/${ID}`;
  assert.doesNotMatch(await get("wait.customer.example", path), /token of/, "anybody may wait for a name");
  edge.replica.apply([zoneOp("customer", "customer.example", { account_id: "another" })]);
  assert.doesNotMatch(await get("wait.customer.example", path), /token of/, "nor under the names of another account");
  edge.replica.apply([zoneOp("customer", "customer.example")]);
  assert.match(await get("wait.customer.example", path), /token of/, "its own account's zone has the name");
  edge.replica.apply([{ kind: "zone", id: "customer", value: null }, { ...hostnameOp("wait.customer.example"), id: ID } as Op]);
  assert.match(await get("wait.customer.example", path), /^HTTP\/1\.1 200 [^]*token of wait\.customer\.example$/);
  assert.match(await get("wait.customer.example", path.replace("/cf-", "/svc-")), /^HTTP\/1\.1 200 /);
  assert.doesNotMatch(await get("shop.customer.example", path), /token of/);
  assert.doesNotMatch(await get("own.service.example", path), /token of/);
});

test("rules of the zone see the hostname and its metadata, and the cache keys include the hostname", async () => {
  edge.replica.apply([
    hostnameOp("meta.customer.example", { metadata: { customer: "Zoë", plan: "gold" } }),
    rulesetOp("meta", "zone", "zone", "http_request_late_transform", [
      {
        action: "rewrite",
        expression: 'lookup_json_string(cf.hostname.metadata, "plan") eq "gold" and http.host eq "meta.customer.example"',
        action_parameters: {
          headers: { "X-Customer": { operation: "set", expression: 'lookup_json_string(cf.hostname.metadata, "plan")' } },
        },
      },
    ]),
  ]);
  assert.match(await get("meta.customer.example", "/style.css"), /meta\.customer\.example gold$/);
  assert.match(await get("shop.customer.example", "/style.css"), /shop\.customer\.example $/);
  const before = asked.length;
  const again = await get("meta.customer.example", "/style.css");
  assert.match(again, /meta\.customer\.example gold$/);
  assert.equal(asked.length, before, "it comes from the cache");
});

test("the edge requests a custom origin by its own name, and the fallback origin by the client's", async () => {
  const root = await createRoot(systemClock);
  const ca = createLocalCa({ root, clock: systemClock });
  const names: string[] = [];
  const issued = await ca.issue(["origin.service.example"]);
  const server: Server = createHttpsServer({ cert: issued.chain, key: issued.privateKey }, (req, res) => {
    names.push(`${(req.socket as TLSSocket & { servername?: string }).servername} ${req.headers.host}`);
    res.end("ok");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const front = await ca.issue(["a.customer.example", "b.customer.example", "c.customer.example", "d.customer.example"]);
  const tlsEdge = await startEdge([
    zoneOp("zone", "service.example", { edge: { ssl: "full" } }),
    recordOp("origin", "zone", "origin.service.example", "A", "127.0.0.1"),
    recordOp("other", "zone", "other.service.example", "A", "127.0.0.1"),
    routeOp((server.address() as AddressInfo).port),
    fallbackOp("origin.service.example"),
    hostnameOp("a.customer.example"),
    hostnameOp("b.customer.example", { origin: "other.service.example" }),
    hostnameOp("c.customer.example", { origin: "other.service.example", sni: ":request_host_header:" }),
    hostnameOp("d.customer.example", { origin: "other.service.example", sni: "sni.service.example" }),
  ]);
  tlsEdge.replica.apply([
    {
      kind: "certificate",
      id: "front",
      value: {
        zone_id: "zone",
        hosts: ["a", "b", "c", "d"].map((label) => `${label}.customer.example`),
        chain: front.chain,
        private_key: tlsEdge.sealer.seal(front.privateKey, "certificate:front"),
        not_after: front.notAfter,
      },
    },
  ]);
  try {
    for (const label of ["a", "b", "c", "d"]) {
      const servername = `${label}.customer.example`;
      await new Promise<void>((resolve, reject) => {
        const options = {
          host: "127.0.0.1",
          port: tlsEdge.https,
          servername,
          ca: root.certificate,
          headers: { host: servername },
          agent: false,
        };
        httpsRequest(options, (answer) => answer.resume().on("end", resolve))
          .on("error", reject)
          .end();
      });
    }
    assert.deepEqual(names, [
      "a.customer.example a.customer.example",
      "other.service.example b.customer.example",
      "c.customer.example c.customer.example",
      "sni.service.example d.customer.example",
    ]);
    assert.deepEqual(tlsEdge.errors, []);
  } finally {
    await tlsEdge.close();
    server.close();
    server.closeAllConnections();
  }
});

test("property: after any changes, the index equals a new one", () => {
  const hosts = ["x.test", "a.x.test", "b.a.x.test", "y.test"];
  const op = fc.record({
    host: fc.constantFrom(...hosts),
    id: fc.constantFrom("1", "2", "3"),
    what: fc.constantFrom("put", "remove", "zone", "unzone"),
    wildcard: fc.boolean(),
    active: fc.boolean(),
  });
  const opsOf = ({
    host,
    id,
    what,
    wildcard,
    active,
  }: {
    host: string;
    id: string;
    what: string;
    wildcard: boolean;
    active: boolean;
  }): Op => {
    if (what === "zone") return zoneOp(`z-${host}`, host);
    if (what === "unzone") return { kind: "zone", id: `z-${host}`, value: null };
    return what === "put"
      ? hostnameOp(host, { wildcard, active }, `${host}-${id}`)
      : { kind: "custom_hostname", id: `${host}-${id}`, value: null };
  };
  fc.assert(
    fc.property(fc.array(op, { maxLength: 25 }), (steps) => {
      const replica = createMemoryReplica([zoneOp("zone", "service.example")]);
      const zones = createZones(replica, () => undefined);
      // At most one is active under a name, as control guarantees.
      const active = new Map<string, string>();
      for (const step of steps) {
        const id = `${step.host}-${step.id}`;
        const loses = step.what === "put" && step.active && active.get(step.host) !== undefined && active.get(step.host) !== id;
        if (loses) replica.apply([{ kind: "custom_hostname", id: active.get(step.host) as string, value: null }]);
        if (step.what === "put" && step.active) active.set(step.host, id);
        else if (active.get(step.host) === id && (step.what === "remove" || step.what === "put")) active.delete(step.host);
        replica.apply([opsOf(step)]);
      }
      const fresh = createZones(replica, () => undefined);
      for (const host of [...hosts, "other.y.test"]) {
        const said = (from: typeof zones) => [from.serving(host)?.zone.entry.id, from.serving(host)?.hostname?.hostname];
        assert.deepEqual(said(zones), said(fresh), host);
      }
    }),
  );
});
