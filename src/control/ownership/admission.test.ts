import assert from "node:assert/strict";
import { controlOver } from "../../../test/support/control.ts";
import { failing } from "../../../test/support/failing.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { storeTest } from "../../../test/support/store.ts";

storeTest("tenants cannot have names that standards reserve, and the operator's account can", async ({ store }) => {
  const { control, account_id, call } = await controlOver(store);
  const tenant = "7".repeat(32);
  const row = { id: tenant, name: "tenant", type: "standard", settings: "{}", created_on: "2999-01-01T00:00:00.000000Z" };
  await store.write(({ db }) => insertAccount(db, row));
  const create = (name: string, account: string) => control.zones.create(call(), { name, account: { id: account } });
  for (const name of ["localhost", "a.localhost", "LOCALHOST.", "printer.local", "b.invalid", "x.onion", "y.alt"]) {
    await assert.rejects(create(name, tenant), failing(1097, "/name"), name);
    await assert.rejects(create(name, tenant), /only accounts in zones\.trusted_accounts/);
  }
  for (const name of ["corp.internal", "a.test", "b.example", "localhost.example", "my-localhost"])
    assert.equal((await create(name, tenant)).name, name);
  assert.equal((await create("localhost", account_id)).name, "localhost");
});
