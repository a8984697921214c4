import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Cloudflare from "cloudflare";
import { type ApiServer, startApi } from "../support/api-server.ts";
import { all, failing } from "../support/vendor-client.ts";

// The vendor's own TypeScript client on everything of DNS but single records, over real HTTP.
let server: ApiServer;
let client: Cloudflare;
let account_id: string;

before(async () => {
  server = await startApi();
  account_id = server.account_id;
  client = new Cloudflare({ apiToken: server.token, baseURL: server.url, maxRetries: 0 });
});
after(() => server.close());

const newZone = async (name: string): Promise<string> => (await client.zones.create({ account: { id: account_id }, name })).id;

test("dns.records.batch: deletes, patches, puts and posts are applied all at once, or not at all", async () => {
  const zone_id = await newZone("batch.test");
  const make = (name: string) => client.dns.records.create({ zone_id, type: "A", name, content: "192.0.2.1", ttl: 1 });
  const [gone, patched, put] = [await make("gone"), await make("patched"), await make("put")];
  const done = await client.dns.records.batch({
    zone_id,
    deletes: [{ id: gone.id }],
    patches: [{ id: patched.id, type: "A", name: "patched", ttl: 120, content: "192.0.2.2" }],
    puts: [{ id: put.id, type: "AAAA", name: "put", ttl: 1, content: "2001:db8::1" }],
    posts: [{ type: "TXT", name: "posted", ttl: 1, content: "new" }],
  });
  assert.deepEqual(
    [done.deletes, done.patches, done.puts, done.posts].map((records) => records?.map(({ name }) => name)),
    [["gone.batch.test"], ["patched.batch.test"], ["put.batch.test"], ["posted.batch.test"]],
  );
  const names = async () => (await all(client.dns.records.list({ zone_id }))).map(({ type, name }) => `${type} ${name}`);
  const before = await names();
  assert.deepEqual(before.toSorted(), ["A patched.batch.test", "AAAA put.batch.test", "TXT posted.batch.test"]);
  const bad = { zone_id, deletes: [{ id: put.id }], posts: [{ type: "A" as const, name: "bad", ttl: 1 as const, content: "none" }] };
  await assert.rejects(client.dns.records.batch(bad), failing(400, 9005));
  assert.deepEqual(await names(), before);
});

test("dns.settings: get and edit work for a zone and for an account", async () => {
  const zone_id = await newZone("settings.test");
  const shown = await client.dns.settings.zone.get({ zone_id });
  assert.deepEqual([shown.flatten_all_cnames, shown.zone_mode, shown.nameservers.type], [false, "standard", "cloudflare.standard"]);
  const edited = await client.dns.settings.zone.edit({ zone_id, flatten_all_cnames: true, ns_ttl: 300, multi_provider: true });
  assert.deepEqual([edited.flatten_all_cnames, edited.ns_ttl, edited.multi_provider], [true, 300, true]);
  await assert.rejects(client.dns.settings.zone.edit({ zone_id, soa: { refresh: 7200 } }), failing(400, 10414));
  await client.zones.edit({ zone_id, plan: { id: "enterprise" } } as Parameters<typeof client.zones.edit>[0]);
  const soa = (await client.dns.settings.zone.edit({ zone_id, soa: { refresh: 7200, rname: "admin@settings.test" } })).soa;
  assert.deepEqual([soa.refresh, soa.rname, soa.retry], [7200, "admin.settings.test", 2400]);
  await assert.rejects(client.dns.settings.zone.edit({ zone_id, soa: { ttl: 300 } }), failing(400, 10400));

  const defaults = await client.dns.settings.account.edit({
    account_id,
    zone_defaults: { nameservers: { type: "cloudflare.standard.random" } },
  });
  assert.equal(defaults.zone_defaults.nameservers.type, "cloudflare.standard.random");
  assert.deepEqual(await client.dns.settings.account.get({ account_id }), defaults);
});

test("dns.dnssec: get, edit, keys, delete", async () => {
  const zone_id = await newZone("dnssec.test");
  assert.equal((await client.dns.dnssec.get({ zone_id })).status, "disabled");
  const on = await client.dns.dnssec.edit({ zone_id, status: "active" });
  assert.deepEqual([on.status, on.algorithm, on.flags], ["pending", "13", 257]);
  const keys = await all(client.dns.dnssec.zsk.list({ zone_id }));
  assert.deepEqual(
    keys.map(({ DNSKEY, SigningKey }) => [DNSKEY?.PublicKey, SigningKey?.privkey]),
    [[on.public_key, null]],
  );
  await assert.rejects(client.dns.dnssec.delete({ zone_id }), failing(400, 10417));
  assert.equal((await client.dns.dnssec.edit({ zone_id, status: "disabled" })).status, "disabled");
  assert.equal(await client.dns.dnssec.delete({ zone_id }), "");
});

test("dns.zoneTransfers: ACLs, TSIGs, peers, incoming and outgoing", async () => {
  const transfers = client.dns.zoneTransfers;
  const zone_id = await newZone("transfers.test");
  const acl = await transfers.acls.create({ account_id, name: "acl", ip_range: "192.0.2.0/28" });
  const replaced = await transfers.acls.update(acl.id, { account_id, name: "acl", ip_range: "192.0.2.53/28" });
  assert.equal(replaced.ip_range, "192.0.2.48/28");
  assert.deepEqual(await transfers.acls.get(acl.id, { account_id }), replaced);
  assert.deepEqual(await all(transfers.acls.list({ account_id })), [replaced]);
  assert.equal((await transfers.acls.delete(acl.id, { account_id })).id, acl.id);

  const secret = Buffer.from("twenty bytes at least").toString("base64");
  const made = await transfers.tsigs.create({ account_id, name: "tsig.customer.", algo: "hmac-sha512.", secret });
  const tsig = await transfers.tsigs.update(made.id, { account_id, name: "tsig.customer.", algo: "hmac-sha256.", secret });
  assert.deepEqual(await transfers.tsigs.get(made.id, { account_id }), tsig);
  assert.deepEqual([tsig.secret, (await all(transfers.tsigs.list({ account_id }))).length], [secret, 1]);

  const plain = await transfers.peers.create({ account_id, name: "peer" });
  const peer = await transfers.peers.update(plain.id, { account_id, name: "peer", ip: "192.0.2.53", port: 5353, tsig_id: tsig.id });
  assert.deepEqual(await transfers.peers.get(peer.id, { account_id }), peer);
  assert.deepEqual(await all(transfers.peers.list({ account_id })), [peer]);

  const name = "transfers.test.";
  const incoming = await transfers.incoming.create({ zone_id, name, peers: [peer.id], auto_refresh_seconds: 86_400 });
  assert.equal((await transfers.incoming.update({ zone_id, name, peers: [peer.id], auto_refresh_seconds: 300 })).auto_refresh_seconds, 300);
  assert.equal((await transfers.incoming.get({ zone_id })).id, incoming.id);
  await assert.rejects(transfers.forceAXFR.create({ zone_id }), failing(400, 10400));
  const outgoing = await transfers.outgoing.create({ zone_id, name, peers: [peer.id] });
  assert.equal((await transfers.outgoing.update({ zone_id, name, peers: [peer.id] })).id, outgoing.id);
  assert.deepEqual((await transfers.outgoing.get({ zone_id })).peers, [peer.id]);
  await assert.rejects(transfers.outgoing.forceNotify({ zone_id }), failing(400, 10400));
  assert.equal(await transfers.outgoing.enable({ zone_id }), "Enabled");
  assert.equal(await transfers.outgoing.status.get({ zone_id }), "Enabled");
  assert.equal(await transfers.outgoing.forceNotify({ zone_id }), "OK");
  assert.equal(await transfers.outgoing.disable({ zone_id }), "Disabled");
  assert.equal(await transfers.outgoing.status.get({ zone_id }), "Disabled");
  await assert.rejects(transfers.peers.delete(peer.id, { account_id }), failing(400, 10412));
  assert.equal((await transfers.outgoing.delete({ zone_id })).id, outgoing.id);
  await client.zones.edit({ zone_id, type: "secondary" });
  assert.equal(await transfers.forceAXFR.create({ zone_id }), "OK");
  assert.equal((await transfers.incoming.delete({ zone_id })).id, incoming.id);
  assert.equal((await transfers.peers.delete(peer.id, { account_id })).id, peer.id);
  assert.equal((await transfers.tsigs.delete(tsig.id, { account_id })).id, tsig.id);
});

test("customNameservers: create, list, delete", async () => {
  const zone_id = await newZone("vanity.test");
  const made = await client.customNameservers.create({ account_id, ns_name: "ns1.vanity.test" });
  assert.deepEqual([made.status, made.zone_tag, made.ns_set], ["pending", zone_id, 1]);
  await client.dns.records.create({ zone_id, type: "A", name: "ns1", content: "192.0.2.53", ttl: 1 });
  const [listed] = await all(client.customNameservers.get({ account_id }));
  assert.deepEqual([listed?.status, listed?.dns_records], ["verified", [{ type: "A", value: "192.0.2.53" }]]);
  const settings = await client.dns.settings.zone.edit({ zone_id, nameservers: { type: "custom.account", ns_set: 1 } });
  assert.equal(settings.nameservers.type, "custom.account");
  await assert.rejects(all(client.customNameservers.delete("ns1.vanity.test", { account_id })), failing(400, 10412));
  await client.dns.settings.zone.edit({ zone_id, nameservers: { type: "cloudflare.standard" } });
  assert.deepEqual(await all(client.customNameservers.delete("ns1.vanity.test", { account_id })), []);
});
