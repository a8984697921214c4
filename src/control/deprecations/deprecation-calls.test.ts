import assert from "node:assert/strict";
import { fixedClock } from "#kernel/clock.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createDeprecationCalls } from "./deprecation-calls.ts";

storeTest("calls add up by day, and an account sees only its own, newest day first", async ({ store }) => {
  const calls = createDeprecationCalls({ store, clock: fixedClock("2024-11-02T10:00:00Z") });
  const row = { day: "2024-11-01", account_id: "one", deprecation_id: "dns-record-zone-fields", token_id: "t", route: "GET /x" };
  await calls.add([{ ...row, calls: 2 }]);
  await calls.add([
    { ...row, calls: 3 },
    { ...row, day: "2024-11-02", calls: 1 },
    { ...row, account_id: "two", calls: 7 },
  ]);
  const page = await calls.list("one", { page: 1, per_page: 10 });
  assert.equal(page.total_count, 2);
  assert.deepEqual(
    page.items.map(({ day, calls: count }) => [day, count]),
    [
      ["2024-11-02", 1],
      ["2024-11-01", 5],
    ],
  );
  assert.ok(!("account_id" in (page.items[0] ?? {})));
  assert.deepEqual((await calls.list("one", { page: 3, per_page: 1 })).items, [], "past the end");
});

storeTest("counts are deleted after a year", async ({ store }) => {
  const clock = fixedClock("2024-11-01T10:00:00Z");
  const calls = createDeprecationCalls({ store, clock });
  const row = { account_id: "one", deprecation_id: "firewall-rules", token_id: "t", calls: 1 };
  await calls.add(Array.from({ length: 250 }, (_, n) => ({ ...row, day: "2024-11-01", route: `GET /${n}` })));
  await calls.add([{ ...row, day: "2024-11-02", route: "GET /x" }]);
  const days = async (): Promise<readonly string[]> => (await calls.list("one", { page: 1, per_page: 1000 })).items.map(({ day }) => day);
  clock.advance(366 * 86_400_000);
  await calls.forget();
  assert.equal((await days()).length, 251, "a year is kept");
  clock.advance(86_400_000);
  await calls.forget();
  assert.deepEqual(await days(), ["2024-11-02"]);
});
