import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { createShowsToken } from "#control/hostnames/fetch-token.ts";
import { fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { checkDelayMs, CHECKS_MAX, MOVED_RETENTION_MS } from "#model/hostnames/custom-hostname-states.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { insertAccount } from "#store/access/accounts.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../support/control.ts";
import { NAMESERVER_PARTS, nameserverConfig } from "../support/nameserver.ts";
import { storeTest } from "../support/store.ts";
import { recordOp, serialOp, zoneOp } from "../support/zone-entries.ts";

// The customer's names are served by a nameserver elsewhere, which is asked over UDP.

const CUSTOMER = "customer.test";
const OURS = "192.0.2.10";
const DV = { method: "http", type: "dv" } as const;

async function elsewhere() {
  const replica = createMemoryReplica([zoneOp("c", CUSTOMER), serialOp("c", 1)]);
  const nameserver = createNameserver({ replica, metrics: createMetrics(), config: nameserverConfig(), ...NAMESERVER_PARTS });
  const { udp } = await nameserver.listen();
  let serial = 1;
  return {
    server: `127.0.0.1:${udp}`,
    put: (name: string, type: string, content: string) =>
      replica.apply([recordOp("c", `${name}.${CUSTOMER}`, type, content), serialOp("c", ++serial)]),
    remove: (name: string, type: string, content: string) =>
      replica.apply([
        { ...recordOp("c", `${name}.${CUSTOMER}`, type, content), value: null } as ReturnType<typeof recordOp>,
        serialOp("c", ++serial),
      ]),
    close: () => nameserver.close(100),
  };
}

async function world(store: Store, dnsServer: string) {
  const clock = fixedClock("2026-03-01T00:00:00Z");
  const { control, account_id, call } = await controlOver(store, { clock, scanResolvers: [dnsServer], edgeAddresses: [OURS] });
  const { id } = await control.zones.create(call(), { name: "service.test", account: { id: account_id } });
  const saas = { id, name: "service.test", account_id, plan: "free" };
  await control.dnsRecords.create(call(), saas, { type: "A", name: "origin", content: "192.0.2.1", proxied: true });
  await control.fallbackOrigins.put(call(), saas, { origin: "origin.service.test" });
  const create = (label: string) => control.customHostnames.create(call(), saas, { hostname: `${label}.${CUSTOMER}`, ssl: DV });
  const status = async (made: { id: string }) => (await control.customHostnames.get(saas, made.id)).status;
  const checkDue = () => control.hostnameChecks.checkDue(call(), 50);
  return { control, clock, call, saas, create, status, checkDue };
}

describe("custom hostnames with external DNS", () => {
  let dns: Awaited<ReturnType<typeof elsewhere>>;
  before(async () => {
    dns = await elsewhere();
  });
  after(() => dns.close());

  storeTest(
    "a CNAME, an alias through another name, an address of the edge and an ownership TXT record each activate a hostname",
    async ({ store, dialect }) => {
      const { create, saas, control, call } = await world(store, dns.server);
      const label = (name: string) => `${name}-${dialect}`;
      dns.put(label("direct"), "CNAME", "customers.service.test.");
      dns.put(label("middle"), "CNAME", "customers.service.test.");
      dns.put(label("chained"), "CNAME", `${label("middle")}.${CUSTOMER}.`);
      dns.put(label("apex"), "A", OURS);
      dns.put(label("away"), "CNAME", "elsewhere.test.");
      for (const name of ["direct", "chained", "apex"]) assert.equal((await create(label(name))).status, "active", name);
      const stranger = { id: newId(), name: "stranger", type: "standard", settings: "{}", created_on: "2026-01-01T00:00:00.000000Z" };
      await store.write(({ db }) => insertAccount(db, stranger));
      const { id: zoneId } = await control.zones.create(call(), { name: "stranger.test", account: { id: stranger.id } });
      const rival = { id: zoneId, name: "stranger.test", account_id: stranger.id };
      await control.fallbackOrigins.put(call(), rival, { origin: "origin.stranger.test" });
      for (const name of ["apex", "direct"])
        assert.equal(
          (await control.customHostnames.create(call(), rival, { hostname: `${label(name)}.${CUSTOMER}` })).status,
          "pending",
          name,
        );
      const away = await create(label("away"));
      assert.deepEqual([away.status, away.verification_errors], ["pending", ["custom hostname does not CNAME to this zone."]]);
      for (const [index, prefix] of ["svc", "cf"].entries()) {
        const name = label(`text${index}`);
        const made = await create(name);
        assert.equal(made.status, "pending");
        assert.deepEqual(made.ownership_verification, {
          type: "txt",
          name: `_svc-custom-hostname.${name}.${CUSTOMER}`,
          value: made.ownership_verification?.value,
        });
        dns.put(`_${prefix}-custom-hostname.${name}`, "TXT", `"${made.ownership_verification?.value}"`);
        assert.equal((await control.customHostnames.edit(call(), saas, made.id, { ssl: DV })).status, "active", prefix);
      }
    },
  );

  storeTest(
    "SPEC 3.2 Active: a hostname moves after two checks find it elsewhere, but not if its DNS does not answer",
    async ({ store, dialect }) => {
      const { create, status, clock, checkDue, saas, control, call } = await world(store, dns.server);
      const name = `moves-${dialect}`;
      dns.put(name, "CNAME", "customers.service.test.");
      const made = await create(name);
      assert.equal(made.status, "active");
      dns.remove(name, "CNAME", "customers.service.test.");
      clock.advance(3_600_000);
      assert.equal(await checkDue(), 1);
      assert.equal(await status(made), "active", "a second look confirms the first");
      clock.advance(300_000);
      await checkDue();
      assert.equal(await status(made), "moved");
      dns.put(name, "CNAME", "customers.service.test.");
      assert.equal((await control.customHostnames.edit(call(), saas, made.id, { ssl: DV })).status, "active");
    },
  );

  storeTest("a pending hostname is checked for a week, then moves, and is deleted a week later", async ({ store, dialect }) => {
    const { create, status, clock, checkDue } = await world(store, dns.server);
    const made = await create(`never-${dialect}`);
    assert.equal(made.status, "pending");
    const begun = clock.nowMs();
    for (let look = 0; look < CHECKS_MAX; look++) {
      clock.advance(checkDelayMs(look) - 1);
      assert.equal(await checkDue(), 0, `before look ${look}`);
      clock.advance(1);
      assert.equal(await checkDue(), 1, `look ${look}`);
      assert.equal(await status(made), look === CHECKS_MAX - 1 ? "moved" : "pending");
    }
    const days = (clock.nowMs() - begun) / 86_400_000;
    assert.ok(days > 7.2 && days < 7.3);
    clock.advance(MOVED_RETENTION_MS);
    await checkDue();
    await assert.rejects(status(made), { code: 1436 });
  });

  test("the check fetches the token from the hostname's own server and follows no redirect", async () => {
    const seen: string[] = [];
    const server = createServer((req, res) => {
      seen.push(`${req.headers.host} ${req.url} ${req.headers["user-agent"]}`);
      if (req.url === "/token") res.end("the token\n");
      else if (req.url === "/redirect") res.writeHead(302, { location: "/token" }).end();
      else if (req.url === "/endless") {
        const timer = setInterval(() => res.write("x".repeat(1000)), 1);
        res.on("close", () => clearInterval(timer));
      } else res.writeHead(404).end("the token");
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const port = (server.address() as AddressInfo).port;
    const asks = (allowed: boolean) => createShowsToken({ allows: () => allowed, userAgent: "agent", port });
    const shows = asks(true);
    try {
      assert.equal(await shows("shop.customer.test", ["127.0.0.1"], ["/nothing", "/token"], "the token"), true);
      assert.ok(seen.includes("shop.customer.test /token agent"));
      for (const path of ["/nothing", "/redirect", "/endless"])
        assert.equal(await shows("shop.customer.test", ["127.0.0.1"], [path], "the token"), false, path);
      assert.equal(await shows("shop.customer.test", ["127.0.0.1"], ["/token"], "another token"), false);
      const before = seen.length;
      assert.equal(await asks(false)("shop.customer.test", ["127.0.0.1"], ["/token"], "the token"), false);
      assert.equal(seen.length, before);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});

storeTest("a hostname keeps its status while no nameserver answers for it", async ({ store }) => {
  const dns = await elsewhere();
  const { create, status, clock, checkDue } = await world(store, dns.server);
  dns.put("silent", "CNAME", "customers.service.test.");
  const made = await create("silent");
  assert.equal(made.status, "active");
  await dns.close();
  for (let look = 0; look < 4; look++) {
    clock.advance(3_600_000);
    await checkDue();
  }
  assert.equal(await status(made), "active");
});
