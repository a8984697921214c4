import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { apiCaller, succeed } from "../support/api.ts";
import { startSelvedge } from "../support/selvedge.ts";

test("custom hostnames, certificates and gateways are listed and changed by commands", async (t) => {
  const selvedge = await startSelvedge();
  t.after(() => selvedge.stop());
  const call = apiCaller(selvedge.ready);
  const run = async (...args: readonly string[]) => {
    const env = { ...process.env, SELVEDGE_API: selvedge.ready.api, SELVEDGE_TOKEN: selvedge.ready.token ?? "" };
    const child = spawn(process.execPath, ["bin/selvedge.js", ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    return { out, err, code: code as number };
  };
  const { id } = await succeed(call("POST", "/zones", { name: "saas.example", account: { id: selvedge.ready.account_id } }));
  await succeed(call("POST", `/zones/${id}/dns_records`, { type: "A", name: "origin", content: "127.0.0.1", proxied: true }));
  await succeed(call("PUT", `/zones/${id}/custom_hostnames/fallback_origin`, { origin: "origin.saas.example" }));

  const added = await run("hostnames", "add", "saas.example", "app.customer.example", "--method", "txt");
  assert.equal(added.code, 0, added.err);
  assert.match(added.out, /^app\.customer\.example: pending, certificate /);
  assert.match(added.out, /^ {2}\S+\.app\.customer\.example TXT "/m);
  assert.match((await run("hostnames", "list", "saas.example")).out, /^HOSTNAME +STATUS +CERTIFICATE.*\napp\.customer\.example +pending /);
  const shown = JSON.parse((await run("hostnames", "show", "saas.example", "app.customer.example", "--json")).out);
  assert.equal(shown.hostname.hostname, "app.customer.example");
  assert.deepEqual((await run("hostnames", "delete", "saas.example", "app.customer.example")).out, "deleted app.customer.example\n");
  const gone = await run("hostnames", "show", "saas.example", "app.customer.example");
  assert.deepEqual([gone.code, /has no custom hostname app\.customer\.example/.test(gone.err)], [1, true], gone.err);
  const wrong = await run("hostnames", "add", "saas.example", "a.customer.example", "--method", "email");
  assert.deepEqual([wrong.code, wrong.err], [2, "selvedge: --method takes http or txt\n"]);

  const certificates = await run("certificates", "saas.example");
  assert.match(certificates.out, /^TYPE +STATUS +AUTHORITY +EXPIRES +NAMES.*\nuniversal +\S+ .*saas\.example/, certificates.err);

  assert.match((await run("gateways", "add", "support")).out, /\nsupport +required +kept /);
  assert.match((await run("gateways", "add", "open", "--open")).out, /\nopen +not required +kept /);
  const { gateways } = JSON.parse((await run("gateways", "list", "--json")).out);
  assert.deepEqual(gateways.map((gateway: any) => gateway.id).toSorted(), ["open", "support"]);
  assert.equal((await run("gateways", "delete", "open")).out, "deleted open\n");
  const twice = await run("gateways", "add", "support");
  assert.deepEqual([twice.code, /^selvedge: gateways: .*\(\d+\)/.test(twice.err)], [1, true], twice.err);
});
