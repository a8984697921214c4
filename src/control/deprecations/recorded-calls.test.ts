import assert from "node:assert/strict";
import { fixedClock, isoDate, type IsoDate } from "#kernel/clock.ts";
import { insertAccount } from "#store/access/accounts.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createRecordedCalls, type RecordedCall } from "./recorded-calls.ts";

const DAY_MS = 86_400_000;
const call: RecordedCall = {
  ...{ account_id: "one", day: "2026-05-06", token_id: "t", route: "GET /x", shape: '{"query":{}}', api_date: null, calls: 1 },
};

storeTest("recorded calls add up, have a daily limit, and are deleted after 30 days", async ({ store }) => {
  const clock = fixedClock("2026-05-06T10:00:00Z");
  const account = { id: "one", name: "one", type: "standard", settings: "{}", created_on: "2026-01-01T00:00:00.000000Z" };
  await store.write(({ db }) => insertAccount(db, account));
  const recorded = createRecordedCalls({ store, clock });
  await recorded.add([call, { ...call, account_id: "gone" }, { ...call, api_date: "2024-01-01" }]);
  await recorded.add([{ ...call, calls: 4 }]);
  const counts = async (days: number): Promise<readonly number[]> =>
    (await recorded.list("one", days)).calls.map(({ calls }) => calls).toSorted((a, b) => a - b);
  assert.deepEqual(await counts(1), [1, 5], "a caller with an API date is another one");
  assert.deepEqual((await recorded.list("gone", 1)).calls, [], "an account that does not exist has none");

  const many = Array.from({ length: 2_100 }, (_, n) => ({ ...call, shape: `{"query":{"n":"${n}"}}` }));
  await recorded.add(many);
  assert.equal((await counts(1)).length, 2_000);
  await recorded.add([{ ...call, calls: 10 }]);
  assert.equal((await counts(1)).at(-1), 15, "known forms count on");

  const later: IsoDate = isoDate(clock.nowMs() + 30 * DAY_MS);
  clock.advance(30 * DAY_MS);
  await recorded.add([{ ...call, day: later }]);
  await recorded.forget();
  assert.equal((await recorded.list("one", 31)).calls.length, 2_001, "30 days are kept");
  clock.advance(DAY_MS);
  await recorded.forget();
  assert.deepEqual(
    (await recorded.list("one", 32)).calls.map(({ day }) => day),
    [later],
  );
});
