import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fixedClock, isoMicros } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { newTotpSecret } from "#kernel/crypto/totp.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { SharedLimits } from "#kernel/net/shared-limits.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { putTotp } from "#store/access/totp.ts";
import { insertUser } from "#store/access/users.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { leasedLimits } from "#wire/redis/leases.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { startRedis } from "../../../test/support/redis.ts";
import { copySqliteDatabase } from "../../../test/support/sqlite.ts";
import { removeDirectory } from "../../../test/support/temporary.ts";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { createPasswordCheck } from "./password-check.ts";
import { createTotpControl } from "./totp.ts";

const skip = toolOrSkip("redis-server");
/** It stands, so that no answer is late on a busy machine. */
const clock = fixedClock("2026-01-01T00:00:00Z");
const sealer = createSealer(randomBytes(32));

/** Three servers with a database and counters in common. */
async function threeServers(t: TestContext): Promise<{ readonly store: Store; readonly servers: readonly SharedLimits[] }> {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-guesses-"));
  const store = await openStore({ url: await copySqliteDatabase(join(directory, "control.db")), clock });
  const redis = await startRedis();
  const place = { url: redis.url, ca: "" };
  const servers = [1, 2, 3].map(() => leasedLimits(place, { sealer, subject: "api", clock, metrics: createMetrics() }));
  t.after(async () => {
    servers.forEach((server) => server.close());
    await redis.stop();
    await store.close();
    await removeDirectory(directory);
  });
  await eventually(() => servers.every((server) => server.isUp()));
  return { store, servers };
}

/** How many fail with this error. Shared windows begin at multiples of their length: of one that ends meanwhile the count is null. */
async function countOf(name: string, windowMs: number, guesses: readonly (() => Promise<unknown>)[]): Promise<number | null> {
  const window = (): number => Math.floor(Date.now() / windowMs);
  const began = window();
  const results = await Promise.allSettled(guesses.map((guess) => guess()));
  const reasons = results.map((result): unknown => (result.status === "rejected" ? result.reason : undefined));
  const count = reasons.filter((reason) => reason instanceof PlatformError && reason.errorName === name).length;
  return window() === began ? count : null;
}

test("servers that share counters check together as many passwords as one does", { skip }, async (t) => {
  const { store, servers } = await threeServers(t);
  const checks = servers.map((sharedLimits) => createPasswordCheck({ store, clock, sharedLimits }));
  const guesses = (ip: string) =>
    checks.flatMap((check) => Array.from({ length: 25 }, (_, at) => () => check.userOf("ada@example.com", `guess ${at}`, ip)));
  const first = await countOf("wrong_password", 300_000, guesses("192.0.2.1"));
  const second = await countOf("wrong_password", 300_000, guesses("192.0.2.2"));
  assert.ok(first === null || (first > 0 && first <= 20), `${first} of an address`);
  assert.ok(first === null || second === null || first + second <= 30, `${first} and ${second} of a user`);
});

test("servers that share counters check together as many one-time codes as one does", { skip }, async (t) => {
  const { store, servers } = await threeServers(t);
  const now = isoMicros(clock.nowMicros());
  const secret = sealer.seal(newTotpSecret(), "totp:ada");
  await store.write(async ({ db }) => {
    const nothing = { first_name: null, last_name: null, telephone: null, country: null, zipcode: null, api_key_hash: null };
    await insertUser(db, { ...nothing, id: "ada", email: "ada@example.com", created_on: now, modified_on: now });
    await putTotp(db, { user_id: "ada", secret, recovery: "[]", last_step: 0, confirmed_on: now });
  });
  const passwords = createPasswordCheck({ store, clock });
  const codes = servers.map((sharedLimits) => createTotpControl({ store, clock, sealer, passwords, sharedLimits }));
  const guess = async (code: (typeof codes)[number]): Promise<void> => {
    await code.ready("ada");
    await code.check(store.read, "ada", "no code");
  };
  const count = await countOf(
    "wrong_code",
    3_600_000,
    codes.flatMap((code) => Array.from({ length: 12 }, () => () => guess(code))),
  );
  assert.ok(count === null || (count > 0 && count <= 10), `${count}`);
});
