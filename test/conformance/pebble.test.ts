import assert from "node:assert/strict";
import { test } from "node:test";
import { newPrivateKey } from "#acme/account-key.ts";
import type { OpenAuthority } from "#acme/accounts.ts";
import { certificateFacts, isKeyOf } from "#acme/certificate-facts.ts";
import { type Method, txtName } from "#acme/issuance.ts";
import { memoryAccounts, testAuthorities } from "../support/acme.ts";
import { startPebble } from "../support/pebble.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = ["pebble", "openssl"].map(toolOrSkip).find((reason) => reason !== false) ?? false;
const never = new AbortController().signal;

async function issue({ issuance }: OpenAuthority, hosts: readonly string[], method: Method): Promise<{ chain: string; key: string }> {
  const key = newPrivateKey();
  const order = await issuance.place(hosts, method, null, never);
  assert.equal(await issuance.prove(order, never), true);
  const chain = await issuance.complete(order, hosts, key, never);
  assert.ok(chain);
  return { chain, key };
}

test("concurrent orders with wildcards succeed although the authority refuses one nonce in seven", { skip }, async (t) => {
  const pebble = await startPebble({ alwaysValid: true, nonceReject: 15 });
  t.after(() => pebble.stop());
  const authorities = testAuthorities(pebble);
  t.after(() => authorities.close());
  const wanted: readonly (readonly [Method, ...string[]])[] = [
    ["http", "a.example.com"],
    ["txt", "example.com", "*.example.com"],
    ["txt", "*.deep.example.com"],
    ["http", "b.example.com", "c.example.com"],
  ];
  await Promise.all(
    wanted.map(async ([method, ...hosts]) => {
      const { chain, key } = await issue(await authorities.open("lets_encrypt", never), hosts, method);
      const facts = await certificateFacts(chain);
      assert.deepEqual([...facts.hosts].sort(), [...hosts].sort());
      assert.ok(isKeyOf(chain, key));
      assert.match(facts.issuer, /Pebble Intermediate CA/);
      assert.match(chain, /^-----BEGIN CERTIFICATE-----[^]+-----BEGIN CERTIFICATE-----/, "the intermediate is there as well");
    }),
  );
});

test("a restart reuses the ACME account, and registers its key again if the authority forgot it", { skip }, async (t) => {
  const pebble = await startPebble({ alwaysValid: true });
  t.after(() => pebble.stop());
  const accounts = memoryAccounts();
  const first = testAuthorities(pebble, { accounts });
  const { accountUrl } = await first.open("lets_encrypt", never);
  await first.close();
  const second = testAuthorities(pebble, { accounts });
  t.after(() => second.close());
  const again = await second.open("lets_encrypt", never);
  assert.equal(again.accountUrl, accountUrl);
  await issue(again, ["a.example.com"], "http");
  const [id] = accounts.accounts.keys();
  await accounts.setUrl(id!, accountUrl.replace(/[^/]+$/, "nobody"));
  const stranger = testAuthorities(pebble, { accounts });
  t.after(() => stranger.close());
  await assert.rejects(issue(await stranger.open("lets_encrypt", never), ["a.example.com"], "http"), { type: "accountDoesNotExist" });
  await stranger.forgetAccount("lets_encrypt");
  assert.equal((await stranger.open("lets_encrypt", never)).accountUrl, accountUrl, "found by its key");
});

test("an authority with external account binding refuses accounts without it, and accepts the one with its key", { skip }, async (t) => {
  const binding = { keyId: "kid-1", hmacKey: "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W" };
  const pebble = await startPebble({ alwaysValid: true, binding });
  t.after(() => pebble.stop());
  const without = testAuthorities(pebble);
  t.after(() => without.close());
  await assert.rejects(without.open("google", never), { type: "externalAccountRequired" });
  const bound = testAuthorities(pebble, { bindings: { google: binding } });
  t.after(() => bound.close());
  await issue(await bound.open("google", never), ["a.example.com"], "http");
  const wrong = testAuthorities(pebble, { bindings: { google: { ...binding, hmacKey: binding.hmacKey.replace("z", "y") } } });
  t.after(() => wrong.close());
  await assert.rejects(wrong.open("google", never), { name: "AcmeError" });
});

test("a missing proof gives an error with the name and the authority's reason", { skip }, async (t) => {
  // Nothing answers at either.
  const pebble = await startPebble({ dns: "127.0.0.1:9", httpPort: 9 });
  t.after(() => pebble.stop());
  const authorities = testAuthorities(pebble);
  t.after(() => authorities.close());
  const { issuance } = await authorities.open("lets_encrypt", never);
  const order = await issuance.place(["a.example.com"], "txt", null, never);
  assert.equal(txtName(order.proofs[0]!.host), "_acme-challenge.a.example.com");
  await assert.rejects(issuance.prove(order, never), /a\.example\.com: /);
  await assert.rejects(issuance.complete(order, ["a.example.com"], newPrivateKey(), never), { name: "AcmeError" });
});
