import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { apiCaller, succeed } from "../support/api.ts";
import { runClient } from "../support/client.ts";
import { startSelvedge } from "../support/selvedge.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/selvedge.js");

test("zones, records and purge do the daily work through the API", async (t) => {
  const server = await startSelvedge();
  t.after(() => server.stop());
  const { token = "", account_id } = server.ready;
  const run = (...args: readonly string[]) =>
    runClient(process.execPath, [PROGRAM, ...args, "--data", server.dataDir], { SELVEDGE_TOKEN: token });
  const call = apiCaller(server.ready);
  const { created } = JSON.parse(await run("zone", "add", "daily.test", "--json")) as { readonly created: { readonly id: string } };
  const { id } = created;
  assert.match(await run("zone", "add", "größe.test"), /^[0-9a-f]{32} +xn--gre-6ka8i\.test +active +ns1\.\S+, ns2\.\S+$/m);
  assert.equal(await run("zone", "delete", "größe.test"), "deleted größe.test\n");
  await assert.rejects(run("zone", "delete", "größe.test"), /ended with 1\n[^]*cannot access a zone/);
  await assert.rejects(run("zones", "--api", server.ready.http), /is not the API of Selvedge\. Check the base URL/);
  assert.match(await run("zones"), new RegExp(`^ID +NAME +STATUS +TYPE +ACCOUNT\n${id} +daily\\.test +active +full `));

  const added = JSON.parse(
    await run("records", "add", "daily.test", "a", "www", "192.0.2.1", "--ttl", "300", "--comment", "c", "--json"),
  ) as {
    readonly created: { readonly id: string; readonly type: string; readonly ttl: number; readonly comment: string };
  };
  assert.deepEqual([added.created.type, added.created.ttl, added.created.comment], ["A", 300, "c"]);
  await run("records", "add", "daily.test", "MX", "@", "mail.daily.test", "--priority", "10");
  await run("records", "edit", "daily.test", added.created.id, "--content", "192.0.2.2", "--proxied", "yes");
  const list = await run("records", "list", "daily.test");
  assert.match(list, new RegExp(`^${added.created.id} +www\\.daily\\.test +A +auto +yes +192\\.0\\.2\\.2$`, "m"));
  assert.match(list, /^[0-9a-f]{32} +daily\.test +MX +auto +no +10 mail\.daily\.test$/m);
  assert.equal(await run("records", "delete", "daily.test", added.created.id), `deleted ${added.created.id}\n`);
  assert.equal((await succeed(call("GET", `/zones/${id}/dns_records`))).length, 1);

  assert.equal(await run("purge", "daily.test", "--everything"), "purged everything\n");
  assert.equal(await run("purge", "daily.test", "http://www.daily.test/a"), "purged http://www.daily.test/a\n");

  // A page of zones has 50.
  for (let n = 0; n < 50; n++) await succeed(call("POST", "/zones", { name: `daily-${n}.test`, account: { id: account_id } }));
  const { zones } = JSON.parse(await run("zones", "--json")) as { readonly zones: readonly { readonly name: string }[] };
  assert.equal(new Set(zones.map(({ name }) => name)).size, 51);

  await assert.rejects(run("purge", "daily.test"), /ended with 2\n[^]*choose one/);
  await assert.rejects(run("records", "edit", "daily.test", added.created.id), /ended with 2\n[^]*set a field to change/);
  await assert.rejects(
    run("records", "delete", "daily.test", "www"),
    /ended with 2\n[^]*www is not the ID of a record: selvedge records list daily/,
  );
  await assert.rejects(
    run("records", "add", "daily.test", "MX", "@", "mail.daily.test"),
    /ended with 1\n[^]*priority is required[^]*Set it with --priority, such as --priority 10\./,
  );
  await assert.rejects(run("records", "delete", "daily.test", added.created.id), /ended with 1\n[^]*81044/);
  await assert.rejects(run("records", "add", "daily.test", "A", "x", "192.0.2.1", "--proxied", "maybe"), /ended with 2\n/);
});
