import assert from "node:assert/strict";
import { newId } from "#kernel/crypto/ids.ts";
import type { Call } from "#control/call.ts";
import type { PermissionGroupName } from "#model/access/permission-groups.ts";
import { rebuildSnapshot } from "#control/rebuild.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { storeTest } from "../../../test/support/store.ts";

const SECRET = Buffer.from("a secret that two servers share").toString("base64");

const holding = (accountId: string, group: PermissionGroupName): Call => {
  const groups = new Set([group]);
  const grants = [{ effect: "allow", level: "account", id: accountId, groups }] as const;
  const reach = new Map([[accountId, groups]]);
  return { actor: { type: "token", id: newId(), user_id: newId(), name: "", ip: "", grants, reach }, request_id: "test", rev: null };
};

storeTest("ACLs are canonical ranges of limited size", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { acls } = control.transfers;
  const acl = await acls.create(call(), account_id, { name: "office", ip_range: "192.0.2.77/28" });
  assert.equal(acl.ip_range, "192.0.2.64/28");
  assert.deepEqual(await acls.get(call(), account_id, acl.id), acl);
  const updated = await acls.update(call(), account_id, acl.id, { name: "office", ip_range: "2001:DB8::1" });
  assert.equal(updated.ip_range, "2001:db8::1/128");
  assert.deepEqual(await acls.list(call(), account_id), [updated]);
  for (const bad of ["0.0.0.0/0", "64.0.0.0/7", "::/0", "example.com", "", "192.0.2.0/33"])
    await assert.rejects(acls.create(call(), account_id, { name: "bad", ip_range: bad }), failing(10400, "/ip_range"), bad);
  assert.deepEqual(await acls.remove(call(), account_id, acl.id), { id: acl.id });
  await assert.rejects(acls.get(call(), account_id, acl.id), failing(10404));
  await assert.rejects(acls.get(call(), newId(), acl.id), failing(10404));
});

storeTest("a TSIG secret is encrypted, and shown only to callers who may write it", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { tsigs } = control.transfers;
  const tsig = await tsigs.create(call(), account_id, { name: "Key.Example", algo: "HMAC-SHA256", secret: SECRET });
  assert.deepEqual([tsig.name, tsig.algo, tsig.secret], ["key.example.", "hmac-sha256.", SECRET]);
  const reader = holding(account_id, "Account Settings Read");
  assert.equal((await tsigs.get(reader, account_id, tsig.id)).secret, "");
  assert.equal((await tsigs.list(reader, account_id))[0]?.secret, "");
  assert.equal((await tsigs.get(holding(account_id, "Account Settings Write"), account_id, tsig.id)).secret, SECRET);
  const stored = [
    await store.read.selectFrom("transfer_objects").selectAll().execute(),
    await store.read.selectFrom("audit_log").selectAll().execute(),
  ];
  assert.ok(!JSON.stringify(stored).includes(SECRET));
  const write = (change: object) =>
    tsigs.update(call(), account_id, tsig.id, { name: "k.", algo: "hmac-sha1.", secret: SECRET, ...change });
  await assert.rejects(write({ algo: "hmac-md5." }), failing(10400, "/algo"));
  await assert.rejects(write({ secret: "not base64!" }), failing(10400, "/secret"));
  await assert.rejects(write({ secret: "c2hvcnQ=" }), failing(10400, "/secret"));
  await assert.rejects(write({ name: "a..b" }), failing(10400, "/name"));
});

storeTest("peers and zones can refer only to existing objects, and objects in use cannot be deleted", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { peers, tsigs, incoming, outgoing } = control.transfers;
  const { id, name } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const zone = { id, name, account_id };
  const tsig = await tsigs.create(call(), account_id, { name: "k.", algo: "hmac-sha512.", secret: SECRET });
  await assert.rejects(peers.create(call(), account_id, { name: "p", tsig_id: newId() }), failing(10400, "/tsig_id"));
  await assert.rejects(peers.create(call(), account_id, { name: "p", ip: "example.com" }), failing(10400, "/ip"));
  const peer = await peers.create(call(), account_id, { name: "p", ip: "2001:DB8::53", tsig_id: tsig.id });
  assert.deepEqual(peer, { id: peer.id, name: "p", ip: "2001:db8::53", port: 53, ixfr_enable: false, tsig_id: tsig.id });
  await assert.rejects(tsigs.remove(call(), account_id, tsig.id), failing(10412));

  await assert.rejects(incoming.get(zone), failing(10404));
  await assert.rejects(incoming.create(call(), zone, { peers: [newId()] }), failing(10400, "/peers/0"));
  await assert.rejects(incoming.create(call(), zone, { peers: [peer.id, peer.id] }), failing(10400, "/peers/1"));
  await assert.rejects(incoming.create(call(), zone, { peers: [peer.id], name: "two.example" }), failing(10400, "/name"));
  const made = await incoming.create(call(), zone, { name: "One.Example.", peers: [peer.id] });
  assert.deepEqual([made.name, made.peers, made.auto_refresh_seconds], ["one.example.", [peer.id], 86_400]);
  await assert.rejects(incoming.create(call(), zone, { peers: [peer.id] }), failing(10400));
  const changed = await incoming.update(call(), zone, { peers: [peer.id], auto_refresh_seconds: 300 });
  assert.deepEqual([changed.id, changed.auto_refresh_seconds], [made.id, 300]);
  await assert.rejects(outgoing.update(call(), zone, { peers: [peer.id] }), failing(10404));
  await outgoing.create(call(), zone, { peers: [peer.id] });
  await assert.rejects(peers.remove(call(), account_id, peer.id), failing(10412));
  assert.deepEqual(await incoming.remove(call(), zone), { id: made.id });
  await control.zones.delete(call(), id);
  assert.deepEqual(await peers.remove(call(), account_id, peer.id), { id: peer.id });
  assert.deepEqual(await tsigs.remove(call(), account_id, tsig.id), { id: tsig.id });
});

storeTest("deleting an account deletes its transfer objects", async ({ store }) => {
  const { control, call } = await controlOver(store);
  const id = newId();
  await store.write(({ db }) =>
    insertAccount(db, { id, name: "short-lived", type: "standard", settings: "{}", created_on: "2026-01-01T00:00:00.000000Z" }),
  );
  await control.transfers.acls.create(call(), id, { name: "acl", ip_range: "192.0.2.1" });
  await control.customNameServers.create(call(), id, { ns_name: "ns1.short.example" });
  await control.access.accounts.remove(call(), id);
  for (const table of ["transfer_objects", "custom_name_servers"] as const)
    assert.deepEqual(await store.read.selectFrom(table).selectAll().execute(), []);
});

storeTest("outgoing transfers are off by default, and the planes know of them while they are on", async ({ store }) => {
  const { control, sealer, account_id, call } = await controlOver(store);
  const { transfers } = control;
  const { id, name } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const zone = { id, name, account_id };
  const entry = async () => (await rebuildSnapshot(store)).ops.find((op) => op.kind === "transfer" && op.id === id)?.value;
  const { status, enable, forceNotify } = transfers;
  for (const refused of [() => status(zone), () => enable(call(), zone, true), () => forceNotify(call(), zone)])
    await assert.rejects(refused, failing(10404));
  const tsig = await transfers.tsigs.create(call(), account_id, { name: "Key.Example.", algo: "hmac-sha256.", secret: SECRET });
  const peer = await transfers.peers.create(call(), account_id, { name: "p", ip: "192.0.2.1", port: 5353, tsig_id: tsig.id });
  await transfers.outgoing.create(call(), zone, { peers: [peer.id] });
  assert.equal(await transfers.status(zone), "Disabled");
  assert.equal(await entry(), undefined);
  await assert.rejects(transfers.forceNotify(call(), zone), failing(10400));

  assert.equal(await transfers.enable(call(), zone, true), "Enabled");
  await transfers.outgoing.update(call(), zone, { peers: [peer.id] });
  assert.equal(await transfers.status(zone), "Enabled");
  assert.equal(await transfers.forceNotify(call(), zone), "OK");
  await transfers.acls.create(call(), account_id, { name: "acl", ip_range: "198.51.100.0/28" });
  const value = await entry();
  assert.ok(value && "outgoing" in value);
  const [known] = value.outgoing?.peers ?? [];
  assert.deepEqual([value.incoming, value.outgoing?.acl, known?.ip, known?.port], [null, ["198.51.100.0/28"], "192.0.2.1", 5353]);
  assert.deepEqual([known?.tsig?.name, known?.tsig?.algorithm], ["key.example", "hmac-sha256"]);
  assert.equal(sealer.open(known?.tsig?.secret ?? "", `tsig:${tsig.id}`).toString(), SECRET);

  assert.equal(await transfers.enable(call(), zone, false), "Disabled");
  assert.equal(await entry(), undefined);
});

storeTest("only a secondary zone is fetched from a primary", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { transfers } = control;
  const { id, name } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const zone = { id, name, account_id };
  await assert.rejects(transfers.forceAxfr(call(), zone), failing(10404));
  const peer = await transfers.peers.create(call(), account_id, { name: "p", ip: "192.0.2.1" });
  const made = await transfers.incoming.create(call(), zone, { peers: [peer.id] });
  assert.deepEqual([made.status, made.next_check_time], ["inactive", null]);
  await assert.rejects(transfers.forceAxfr(call(), zone), failing(10400));
  assert.equal(await control.secondaries.startDue(), 0);
});
