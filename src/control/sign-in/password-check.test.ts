import assert from "node:assert/strict";
import { systemClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createPasswordCheck } from "./password-check.ts";

const errorsOf = async (calls: readonly Promise<unknown>[]): Promise<Readonly<Record<string, number>>> => {
  const counts: Record<string, number> = {};
  for (const call of await Promise.allSettled(calls)) {
    const reason: unknown = call.status === "rejected" ? call.reason : undefined;
    const name = reason instanceof PlatformError ? reason.errorName : "none";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

storeTest("guesses of one address that arrive together are limited as those in a row are", async ({ store }) => {
  const check = createPasswordCheck({ store, clock: systemClock });
  const guesses = Array.from({ length: 60 }, (_, at) => check.userOf("ada@example.com", `guess ${at}`, "192.0.2.1"));
  assert.deepEqual(await errorsOf(guesses), { wrong_password: 20, rate_limited: 40 });
});

storeTest("guesses for one user from many addresses that arrive together are limited too", async ({ store }) => {
  const check = createPasswordCheck({ store, clock: systemClock });
  const guesses = Array.from({ length: 60 }, (_, at) => check.userOf("ada@example.com", `guess ${at}`, `192.0.2.${at}`));
  assert.deepEqual(await errorsOf(guesses), { wrong_password: 30, rate_limited: 30 });
});

storeTest("more passwords at once than the server checks get a retryable error, and later ones are checked", async ({ store }) => {
  const check = createPasswordCheck({ store, clock: systemClock });
  const guess = (at: number) => check.userOf(`user-${at}@example.com`, "a guess", `192.0.2.${at}`);
  const counts = await errorsOf(Array.from({ length: 70 }, (_, at) => guess(at)));
  assert.deepEqual(Object.keys(counts).toSorted(), ["passwords_busy", "wrong_password"]);
  assert.deepEqual(await errorsOf([guess(101)]), { wrong_password: 1 });
});
