import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fixedClock, isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { ALERT_TYPES, type AlertTypeName, type SpikeKind } from "#model/events/notification.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { orderFromRow } from "#store/certificates/certificate-orders.ts";
import type { Store } from "#store/database/store.ts";
import { alertsTold, wantAlerts } from "../../../test/support/alerts.ts";
import { controlOver } from "../../../test/support/control.ts";
import { startFakePrimary, zoneVersion } from "../../../test/support/fake-primary.ts";
import { storeTest } from "../../../test/support/store.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { problem, startStubAuthority } from "../../../test/support/stub-authority.ts";
import { watching } from "../../../test/support/watching.ts";

/** The types that are told of when it happens. */
type Told = Promise<readonly string[]>;

const spikeOf =
  (alert_type: AlertTypeName, kind: SpikeKind) =>
  async (store: Store): Told => {
    const { account_id, one, current, minute, policy } = await watching(store);
    await policy(alert_type);
    current.kind = kind;
    await minute({ zone_id: one, service: kind === "security_events" ? "dlp" : null, count: 500 });
    return typesTold(store, account_id);
  };

const typesTold = async (store: Store, accountId: string): Told => (await alertsTold(store, accountId)).map(([type]) => type);

/** An order for the zone or for a hostname of it that an authority refuses for as long as it takes to tell of it. */
const refused =
  (alert_type: AlertTypeName, owner_kind: "zone" | "custom_hostname") =>
  async (store: Store): Told => {
    const stub = await startStubAuthority();
    stub.answers.set("POST /order", problem("rejectedIdentifier", "not this name"));
    const clock = fixedClock("2026-11-22T12:00:00Z");
    const acme = { directories: { lets_encrypt: stub.directoryUrl }, bindings: {}, email: "", roots: "" };
    const [zones, hostnames] = owner_kind === "zone" ? (["lets_encrypt", "local"] as const) : (["local", "lets_encrypt"] as const);
    const ordering = { zones: [zones], hostnames: [hostnames], acme };
    const { control, account_id, call } = await controlOver(store, { clock, ordering });
    const { certificateOrdering } = control;
    try {
      await wantAlerts({ control, call, account_id }, [alert_type]);
      const zone = {
        id: (await control.zones.create(call(), { name: "a.test", account: { id: account_id } })).id,
        name: "a.test",
        account_id,
      };
      let owner_id = zone.id;
      if (owner_kind === "zone") await certificateOrdering.orderForZones(10);
      else {
        const ssl = { method: "http", type: "dv" } as const;
        owner_id = (await control.customHostnames.create(call(), zone, { hostname: "shop.b.test", ssl })).id;
      }
      const order = () => orderFromRow(store.read, { owner_kind, owner_id });
      while (((await order())?.tries ?? Number.POSITIVE_INFINITY) < 3) {
        clock.advance(Math.max(((await order())?.due_ms ?? 0) - clock.nowMs(), 0));
        await certificateOrdering.orders.turn();
        await eventually(async () => ((await order())?.lease_ms ?? 0) === 0);
      }
      return await typesTold(store, account_id);
    } finally {
      await certificateOrdering.close();
      await stub.stop();
    }
  };

/** A zone whose primary has news, or none any more. */
const secondary =
  (alert_type: AlertTypeName, isAway: boolean) =>
  async (store: Store): Told => {
    const name = "zone.example";
    const version = (serial: number) => zoneVersion(name, serial, [`${name} 7200 NS ns1.${name}.`], "3600 600 86400 300");
    const primary = await startFakePrimary([version(5)]);
    const clock = fixedClock("2026-05-01T00:00:00Z");
    const { control, account_id, call } = await controlOver(store, { clock, secondaryLimits: { idleTimeoutMs: 1_500 } });
    try {
      const { id } = await control.zones.create(call(), { name, account: { id: account_id }, type: "secondary" });
      const { port } = primary;
      const peer = await control.transfers.peers.create(call(), account_id, { name: "primary", ip: "127.0.0.1", port });
      await control.transfers.incoming.create(call(), { id, name, account_id }, { peers: [peer.id] });
      await control.secondaries.idle();
      await wantAlerts({ control, call, account_id }, [alert_type]);
      primary.versions = [version(6)];
      if (isAway)
        primary.distort = (messages) => messages.map((bytes) => Buffer.concat([bytes.subarray(0, 3), Buffer.of(2), bytes.subarray(4)]));
      for (let n = 0; n < 2; n++) {
        clock.advance(3_600_000);
        await control.secondaries.startDue();
        await control.secondaries.idle();
      }
      return await typesTold(store, account_id);
    } finally {
      await control.secondaries.close();
      await primary.close();
    }
  };

/** A zone with a script whose content changes after the first alert. */
const pageNews =
  (alert_type: AlertTypeName) =>
  async (store: Store): Told => {
    const clock = fixedClock("2026-05-01T00:00:00Z");
    const { control, account_id, call } = await controlOver(store, { clock, webhookAllowed: () => true });
    let content = "one()";
    const server = createServer((_, response) => response.end(content)).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      await wantAlerts({ control, call, account_id }, [alert_type]);
      const zone = await control.zones.create(call(), { name: "a.test", account: { id: account_id } });
      await control.pageShield.update(call(), { id: zone.id, account_id }, { enabled: true });
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/app.js`;
      const at_ms = clock.nowMs();
      await control.pageShield.note([{ kind: "script", zone_id: zone.id, url, host: "127.0.0.1", page_url: "http://a.test/", at_ms }]);
      for (const next of ["one()", "two()"]) {
        content = next;
        clock.advance(86_400_001);
        assert.deepEqual(await control.pageShield.fetchScripts.run(), { fetched: 1, failed: 0 });
        assert.equal(await control.pageShield.news.tell(), 1);
      }
      assert.equal(await control.pageShield.news.tell(), 0);
      return typesTold(store, account_id);
    } finally {
      server.close();
    }
  };

const CAUSES: Readonly<Record<AlertTypeName, (store: Store) => Told>> = {
  clickhouse_alert_fw_anomaly: spikeOf("clickhouse_alert_fw_anomaly", "security_events"),
  clickhouse_alert_fw_ent_anomaly: spikeOf("clickhouse_alert_fw_ent_anomaly", "security_events"),
  http_alert_origin_error: spikeOf("http_alert_origin_error", "origin_errors"),
  http_alert_edge_error: spikeOf("http_alert_edge_error", "edge_errors"),
  universal_ssl_event_type: refused("universal_ssl_event_type", "zone"),
  custom_ssl_certificate_event_type: refused("custom_ssl_certificate_event_type", "custom_hostname"),
  secondary_dns_all_primaries_failing: secondary("secondary_dns_all_primaries_failing", true),
  secondary_dns_zone_successfully_updated: secondary("secondary_dns_zone_successfully_updated", false),
  zone_moved: async (store) => {
    const clock = fixedClock("2026-05-01T00:00:00Z");
    const { control, account_id, call } = await controlOver(store, {
      clock,
      nameServers: ["ns1.pool.net", "ns2.pool.net"],
      ownership: { activation: "delegation" },
    });
    await wantAlerts({ control, call, account_id }, ["zone_moved"]);
    await control.zones.create(call(), { name: "a.test", account: { id: account_id } });
    const other = newId();
    const at = isoMicros(clock.nowMicros());
    await store.write(({ db }) => insertAccount(db, { id: other, name: "B", type: "standard", settings: "{}", created_on: at }));
    await control.zones.create(call(), { name: "a.test", account: { id: other } });
    await control.zoneSettling.prove(call(), "a.test", other);
    return typesTold(store, account_id);
  },
  scriptmonitor_alert_new_hosts: pageNews("scriptmonitor_alert_new_hosts"),
  scriptmonitor_alert_new_resources: pageNews("scriptmonitor_alert_new_resources"),
  scriptmonitor_alert_new_code_change_detections: pageNews("scriptmonitor_alert_new_code_change_detections"),
  api_deprecation_ending: async (store) => {
    const { control, account_id, call } = await controlOver(store, { clock: fixedClock("2026-05-01T00:00:00Z") });
    await wantAlerts({ control, call, account_id }, ["api_deprecation_ending"]);
    const calls = { account_id, deprecation_id: "a", token_id: "t", route: "GET /a", day: "2026-05-01", calls: 1 };
    await control.deprecationCalls.add([calls]);
    await control.deprecationNotices.tellEnding([{ id: "a", date: "2026-05-05", replacement: null }]);
    return typesTold(store, account_id);
  },
};

storeTest("the list of available alerts equals the list of types", async ({ store }) => {
  const { control } = await controlOver(store);
  const listed = Object.values(control.notifications.available()).flatMap((types) => types.map(({ type }) => type));
  assert.deepEqual(listed.toSorted(), Object.keys(CAUSES).toSorted());
});

for (const { type } of ALERT_TYPES)
  storeTest(`an available alert is sent when its event happens: ${type}`, async ({ store }) => {
    assert.deepEqual(await CAUSES[type](store), [type]);
  });
