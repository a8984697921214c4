import assert from "node:assert/strict";
import { fixedClock, isoMicros, systemClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createAccess } from "./access.ts";
import { bootstrap } from "./bootstrap.ts";

const DAY_MS = 86_400_000;
const PAGE = { page: 1, per_page: 50 };

storeTest("the audit log keeps rows for some time, and of each account and user the newest", async ({ store }) => {
  const clock = fixedClock(isoMicros(systemClock.nowMicros()));
  const sealer = createSealer(Buffer.alloc(32, 7));
  const { account_id, token } = await bootstrap({ store, clock, sealer, email: "owner@example.com" });
  const access = createAccess({ store, clock, sealer, auditRetention: { days: 30, rowsMax: 600 } });
  try {
    const actor = await access.authenticate({ type: "token", secret: token ?? "" }, "192.0.2.7");
    const write = async (owner: string | null, rows: number): Promise<void> => {
      for (let n = 0; n < rows; n += 100)
        await store.write(async ({ audit }) => {
          for (let m = 0; m < 100; m++)
            audit({ action: "test", actor, account_id: owner, zone_id: null, resource: { type: "test", id: `${owner} ${n + m}` } });
        });
    };
    const rowsOf = async (owner: string | null): Promise<readonly string[]> =>
      (
        await store.read
          .selectFrom("audit_log")
          .select("resource_id")
          .where("action", "=", "test")
          .where("account_id", owner === null ? "is" : "=", owner)
          .orderBy("id")
          .execute()
      ).map(({ resource_id: id }) => id);

    await write("quiet", 200);
    for (let n = 0; n < 12; n++) {
      await write(account_id, 200);
      await write(null, 100);
    }
    const before = { account: await rowsOf(account_id), user: await rowsOf(null) };
    await access.auditLogs.forget();
    assert.equal((await rowsOf("quiet")).length, 200);
    assert.deepEqual(await rowsOf(account_id), before.account.slice(-600));
    assert.deepEqual(await rowsOf(null), before.user.slice(-600));
    assert.equal((await access.auditLogs.list(account_id, {}, PAGE)).total_count, 600);

    clock.advance(29 * DAY_MS);
    await access.auditLogs.forget();
    assert.equal((await rowsOf("quiet")).length, 200);
    clock.advance(2 * DAY_MS);
    await access.auditLogs.forget();
    assert.equal(
      Number((await store.read.selectFrom("audit_log").select(store.read.fn.countAll().as("rows")).executeTakeFirstOrThrow()).rows),
      0,
    );
  } finally {
    access.close();
  }
});
