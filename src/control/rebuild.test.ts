import assert from "node:assert/strict";
import { fc } from "../../test/support/property.ts";
import type { Op } from "#snapshot/entries.ts";
import type { Store } from "#store/database/store.ts";
import { type ControlFixture, controlOver } from "../../test/support/control.ts";
import { storeTest } from "../../test/support/store.ts";
import { rebuildSnapshot } from "./rebuild.ts";

/** The content of a replica that applied every delta from the first. */
async function fromDeltas(store: Store): Promise<Map<string, unknown>> {
  const entries = new Map<string, unknown>();
  const sets = (await store.changesSince(0, 10_000)) ?? [];
  for (const { changes } of sets) {
    for (const { kind, id, value } of changes) {
      if (value === null) entries.delete(`${kind} ${id}`);
      else entries.set(`${kind} ${id}`, value);
    }
  }
  return entries;
}

const asMap = (ops: readonly Op[]): Map<string, unknown> =>
  new Map(ops.map((op) => [`${op.kind} ${op.id}`, JSON.parse(JSON.stringify(op.value))]));

type Step = (fixture: ControlFixture, pick: number) => Promise<unknown>;

const GATEWAY = {
  cache_invalidate_on_update: true,
  cache_ttl: null,
  collect_logs: true,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};

const zonesOf = async ({ control, call }: ControlFixture) => (await control.zones.list(call(), {}, { page: 1, per_page: 50 })).items;

/** Runs `work` on one of the zones, if there is one. */
const inZone =
  (
    work: (fixture: ControlFixture, zone: { id: string; name: string; account_id: string; plan: string }, pick: number) => Promise<unknown>,
  ): Step =>
  async (fixture, pick) => {
    const zones = await zonesOf(fixture);
    const zone = zones[pick % Math.max(1, zones.length)];
    if (zone) await work(fixture, { id: zone.id, name: zone.name, account_id: zone.account.id, plan: zone.plan.legacy_id }, pick);
  };

const STEPS: Readonly<Record<string, Step>> = {
  createZone: ({ control, account_id, call }, pick) =>
    control.zones.create(call(), { name: `z${pick % 4}.test`, account: { id: account_id } }),
  editZone: inZone(({ control, call }, zone, pick) =>
    control.zones.edit(call(), zone.id, { paused: pick % 2 === 0, vanity_name_servers: pick % 3 === 0 ? ["ns.one.test"] : [] }),
  ),
  deleteZone: inZone(({ control, call }, zone) => control.zones.delete(call(), zone.id)),
  createRecord: inZone(({ control, call }, zone, pick) =>
    control.dnsRecords.create(call(), zone, { type: "A", name: `h${pick % 5}`, content: `192.0.2.${pick % 250}`, proxied: pick % 2 === 0 }),
  ),
  editRecord: inZone(async ({ control, call }, zone, pick) => {
    const [record] = (await control.dnsRecords.list(zone, {}, { page: 1, per_page: 1 })).items;
    if (record) await control.dnsRecords.edit(call(), zone, record.id, { ttl: 60 + pick });
  }),
  deleteRecord: inZone(async ({ control, call }, zone) => {
    const [record] = (await control.dnsRecords.list(zone, {}, { page: 1, per_page: 1 })).items;
    if (record) await control.dnsRecords.delete(call(), zone, record.id);
  }),
  editDnssec: inZone(({ control, call }, zone, pick) =>
    control.dnssec.edit(call(), zone, { status: pick % 3 === 0 ? "disabled" : "active" }),
  ),
  deleteDnssec: inZone(({ control, call }, zone) => control.dnssec.remove(call(), zone)),
  putRules: inZone(({ control, call }, zone, pick) =>
    control.rulesets.putEntryPoint(
      call(),
      { level: "zone", account_id: zone.account_id, zone_id: zone.id, plan: null, actor: call().actor },
      "http_request_firewall_custom",
      { rules: Array.from({ length: pick % 3 }, () => ({ action: "block", expression: "true" })) },
    ),
  ),
  createPeer: async ({ control, account_id, call }, pick) => {
    const { tsigs, peers } = control.transfers;
    const [tsig] = await tsigs.list(call(), account_id);
    await peers.create(call(), account_id, {
      name: `p${pick}`,
      ip: `192.0.2.${pick % 250}`,
      ...(tsig && pick % 2 === 0 ? { tsig_id: tsig.id } : {}),
    });
  },
  editPeer: async ({ control, account_id, call }, pick) => {
    const peers = await control.transfers.peers.list(call(), account_id);
    const peer = peers[pick % Math.max(1, peers.length)];
    if (peer) await control.transfers.peers.update(call(), account_id, peer.id, { name: "p", port: 1 + pick });
  },
  deletePeer: async ({ control, account_id, call }, pick) => {
    const peers = await control.transfers.peers.list(call(), account_id);
    const peer = peers[pick % Math.max(1, peers.length)];
    if (peer) await control.transfers.peers.remove(call(), account_id, peer.id);
  },
  putTsig: async ({ control, account_id, call }, pick) => {
    const { tsigs } = control.transfers;
    const [tsig] = await tsigs.list(call(), account_id);
    const body = { name: `k${pick}.`, algo: "hmac-sha256.", secret: Buffer.alloc(32, pick).toString("base64") };
    await (tsig ? tsigs.update(call(), account_id, tsig.id, body) : tsigs.create(call(), account_id, body));
  },
  createAcl: ({ control, account_id, call }, pick) =>
    control.transfers.acls.create(call(), account_id, { name: "acl", ip_range: `198.51.100.${pick % 250}` }),
  transferOut: inZone(async ({ control, account_id, call }, zone, pick) => {
    const { peers, outgoing, enable } = control.transfers;
    const ids = (await peers.list(call(), account_id)).slice(0, 1 + (pick % 3)).map(({ id }) => id);
    if (ids.length > 0) await outgoing.create(call(), zone, { peers: ids });
    await enable(call(), zone, true);
  }),
  transferIn: inZone(async ({ control, account_id, call }, zone) => {
    const [peer] = await control.transfers.peers.list(call(), account_id);
    if (peer) await control.transfers.incoming.create(call(), zone, { peers: [peer.id] });
  }),
  stopTransfer: inZone(async ({ control, call }, zone, pick) => {
    const { enable, incoming } = control.transfers;
    await (pick % 2 === 0 ? enable(call(), zone, false) : incoming.remove(call(), zone));
  }),
  createGateway: ({ control, account_id, call }, pick) => control.gateways.create(call(), account_id, { id: `g${pick % 3}`, ...GATEWAY }),
  updateGateway: ({ control, account_id, call }, pick) =>
    control.gateways.update(call(), account_id, `g${pick % 3}`, { ...GATEWAY, authentication: pick % 2 === 0 }),
  deleteGateway: ({ control, account_id, call }, pick) => control.gateways.delete(call(), account_id, `g${pick % 3}`),
};

storeTest("the rebuilt snapshot equals the one made by deltas, after any writes", async ({ store, dialect }) => {
  const fixture = await controlOver(store);
  const step = fc.tuple(fc.constantFrom(...Object.values(STEPS)), fc.nat(300));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 35 }), async (steps) => {
      for (const [run, pick] of steps) {
        await run(fixture, pick).catch((error: unknown) => {
          // Refusals are part of the game; they must leave no trace in either.
          assert.equal((error as Error).name, "PlatformError", String(error));
        });
      }
      // Planes keep what a zone had that is gone until its turn comes; a copy leaves it out.
      await fixture.control.removals.run(fixture.call());
      const { rev, ops } = await rebuildSnapshot(store);
      assert.equal(rev, await store.revision());
      assert.deepEqual(asMap(ops), await fromDeltas(store));
    }),
    { numRuns: dialect === "sqlite" ? 12 : 4 },
  );
});
