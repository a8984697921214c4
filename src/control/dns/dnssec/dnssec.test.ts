import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { rebuildSnapshot } from "#control/rebuild.ts";
import type { PlatformError } from "#kernel/errors/errors.ts";
import type { DnssecEntry } from "#snapshot/entries.ts";
import { controlOver } from "../../../../test/support/control.ts";
import { failing } from "../../../../test/support/failing.ts";
import { storeTest } from "../../../../test/support/store.ts";

storeTest("DNSSEC is turned on, off and deleted, and its key is stored encrypted", async ({ store }) => {
  const { control, sealer, account_id, call } = await controlOver(store);
  const { id, name } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const zone = { id, name, account_id };
  const off = await control.dnssec.get(call(), zone);
  assert.deepEqual([off.status, off.ds, off.key_tag, off.modified_on], ["disabled", null, null, null]);
  assert.deepEqual(await control.dnssec.edit(call(), zone, { status: "disabled" }), off);
  assert.deepEqual(await control.dnssec.signingKeys(zone), []);
  assert.equal(await control.dnssec.remove(call(), zone), "");

  const on = await control.dnssec.edit(call(), zone, { status: "active", dnssec_multi_signer: true });
  assert.deepEqual(
    [on.status, on.flags, on.algorithm, on.key_type, on.digest_type, on.digest_algorithm, on.dnssec_multi_signer],
    ["pending", 257, "13", "ECDSAP256SHA256", "2", "SHA256", true],
    "until the parent has the DS it is pending",
  );
  assert.equal(on.ds, `one.example. 3600 IN DS ${on.key_tag} 13 2 ${on.digest}`);
  const [key] = await control.dnssec.signingKeys(zone);
  assert.deepEqual(
    [key?.DNSKEY.PublicKey, key?.Tag, key?.SigningKey.privkey, key?.DNSKEY.Hdr.Rdlength],
    [on.public_key, "active", null, 68],
  );
  assert.equal((await control.dnssec.edit(call(), zone, { status: "active" })).public_key, on.public_key, "twice is once");

  const row = await store.read.selectFrom("zone_dnssec_keys").selectAll().executeTakeFirstOrThrow();
  const pem = sealer.open(row.private_key, `dnssec:${row.id}`);
  const { x = "", y = "" } = createPublicKey(createPrivateKey(pem)).export({ format: "jwk" });
  assert.equal(Buffer.concat([Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]).toString("base64"), on.public_key);
  const audit = await store.read.selectFrom("audit_log").selectAll().where("resource_type", "=", "dnssec").execute();
  assert.ok(audit.length > 0 && !JSON.stringify(audit).includes("PRIVATE"));

  await assert.rejects(control.dnssec.remove(call(), zone), failing(10417));
  await assert.rejects(control.dnssec.edit(call(), zone, { dnssec_presigned: true }), failing(10415));
  await assert.rejects(control.dnssec.edit(call(), zone, { dnssec_use_nsec3: true }), failing(10415));
  await assert.rejects(control.dnssec.startRollover(call(), zone), failing(10417));
  assert.equal((await control.dnssec.edit(call(), zone, { status: "disabled" })).status, "disabled");
  assert.equal(await control.dnssec.remove(call(), zone), "");
  assert.deepEqual(await control.dnssec.get(call(), zone), off);
});

storeTest("turning DNSSEC off waits until the parent's DS is gone, and deleting the zone deletes its key", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id, name } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const zone = { id, name, account_id };
  await control.dnssec.edit(call(), zone, { status: "active" });
  await store.write(({ db }) => db.updateTable("zone_dnssec").set({ status: "active" }).execute());
  assert.equal((await control.dnssec.edit(call(), zone, { status: "disabled" })).status, "pending-disabled");
  await assert.rejects(control.dnssec.remove(call(), zone), failing(10417));
  assert.equal((await control.dnssec.edit(call(), zone, { status: "active" })).status, "pending");
  await control.zones.delete(call(), id);
  assert.deepEqual(await store.read.selectFrom("zone_dnssec").selectAll().execute(), []);
  assert.deepEqual(await store.read.selectFrom("zone_dnssec_keys").selectAll().execute(), []);
  await assert.rejects(control.dnssec.edit(call(), zone, { status: "active" }), failing(1001));
});

storeTest("other providers' keys are allowed only in a multi-signer zone, whose parent is then not checked", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const { id, name } = await control.zones.create(call(), { name: "one.example", account: { id: account_id } });
  const zone = { id, name, account_id, plan: "free" };
  const key = { type: "DNSKEY", name: "@", data: { flags: 256, protocol: 3, algorithm: 13, public_key: "aGVsbG8=" } };
  const before = await control.dnsRecords.create(call(), zone, key);
  await control.dnsRecords.delete(call(), zone, before.id);
  await control.dnssec.edit(call(), zone, { status: "active" });
  await assert.rejects(control.dnsRecords.create(call(), zone, key), failing(9020));
  await assert.rejects(
    control.dnsRecords.batch(call(), zone, { posts: [{ type: "A", name: "a", content: "192.0.2.1" }, key] }),
    (error: unknown) => failing(9020)(error) && (error as PlatformError).source === "/posts/1/type",
  );
  await control.dnssec.edit(call(), zone, { dnssec_multi_signer: true });
  const { id: recordId } = await control.dnsRecords.create(call(), zone, key);
  const { ops } = await rebuildSnapshot(store);
  assert.deepEqual(
    ops.filter(({ kind }) => kind === "dnssec").map(({ value }) => (value as DnssecEntry | null)?.cds),
    [[]],
  );
  await assert.rejects(control.dnssec.edit(call(), zone, { dnssec_multi_signer: false }), failing(10417));
  await control.dnsRecords.delete(call(), zone, recordId);
  assert.equal((await control.dnssec.edit(call(), zone, { dnssec_multi_signer: false })).dnssec_multi_signer, false);
});
