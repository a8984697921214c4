import assert from "node:assert/strict";
import { createAccount, createOperator, fromSeed, type KeyPair } from "@nats-io/nkeys";
import { generateKeyPairSync } from "node:crypto";
import { fixedClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { putSecret } from "#store/database/secrets.ts";
import { storeTest } from "../../../test/support/store.ts";
import { openBusAuthority } from "./bus-authority.ts";

interface Claims {
  readonly iat: number;
  readonly iss: string;
  readonly sub: string;
  readonly nats: { readonly revocations: Readonly<Record<string, number>>; readonly limits: { readonly disk_storage: number } };
}

const claims = (token: string | undefined): Claims =>
  JSON.parse(Buffer.from((token ?? "").split(".")[1] ?? "", "base64url").toString()) as Claims;
const seedOf = (pair: KeyPair): string => Buffer.from(pair.getSeed()).toString();

storeTest("nodes have an account of their own, and those that joined before it was there must join again", async ({ store }) => {
  const clock = fixedClock("2026-11-27T12:00:00Z");
  const sealer = createSealer(Buffer.alloc(32, 7));
  const account = createAccount();
  const signing = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
  const old = { operator: seedOf(createOperator()), system: seedOf(createAccount()), account: seedOf(account), signing };
  const value = sealer.seal(JSON.stringify(old), "secret:bus-authority");
  await store.write(({ db }) => putSecret(db, { name: "bus-authority", value, created_on: "" }));
  const opened = await openBusAuthority({ store, sealer, clock });
  clock.advance(60_000);
  const again = await openBusAuthority({ store, sealer, clock });

  for (const authority of [opened, again]) {
    const [ofControl, ofNodes] = authority.accountTokens(["UREMOVED"]).map(claims) as [Claims, Claims];
    assert.equal(ofControl.sub, account.getPublicKey());
    assert.equal(ofControl.nats.revocations["*"], Date.parse("2026-11-27T12:00:00Z") / 1000 - 1);
    assert.equal(ofNodes.sub, claims(opened.accountTokens([])[1]).sub, "it is made once");
    assert.deepEqual(Object.keys(ofNodes.nats.revocations), ["UREMOVED"]);
    assert.equal(ofNodes.nats.limits.disk_storage, 0);
    const node = claims(authority.nodeToken("ams-1", "UNODE"));
    assert.equal(node.iss, ofNodes.sub);
    // Control's own users are of now.
    assert.ok(claims(authority.controlUser().jwt).iat > (ofControl.nats.revocations["*"] ?? Infinity));
    assert.equal(fromSeed(Buffer.from(old.account)).getPublicKey(), claims(authority.controlUser().jwt).iss);
  }
});

storeTest("a new installation revokes nobody", async ({ store }) => {
  const authority = await openBusAuthority({ store, sealer: createSealer(Buffer.alloc(32, 7)), clock: fixedClock("2026-11-27T12:00:00Z") });
  for (const token of authority.accountTokens([])) assert.equal(claims(token).nats.revocations, undefined);
});
