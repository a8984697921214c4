import assert from "node:assert/strict";
import { storeTest } from "../../../test/support/store.ts";
import { createDeprecationCalls } from "./deprecation-calls.ts";

storeTest("calls add up by day, and an account sees its own, newest day first", async ({ store }) => {
  const calls = createDeprecationCalls({ store });
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
