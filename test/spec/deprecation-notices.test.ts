import assert from "node:assert/strict";
import { test } from "node:test";
import { type EndingRow } from "#control/deprecations/notices.ts";
import { fixedClock } from "#kernel/clock.ts";
import { alertDeprecations } from "#jobs/alert-deprecations.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

const DAY_MS = 86_400_000;
const ROW: EndingRow = { id: "dns-record-locked", date: "2026-12-01", replacement: "nothing" };
/** Nothing is sent: what is to be sent stands in the history. */
const MAIL = { host: "127.0.0.1", port: 1, username: "", password: "", from: "selvedge@example.com" };
const ROUTE = "GET /zones/:zone_id/dns_records";

async function wantNotices(server: ApiServer): Promise<void> {
  const hooks = `/accounts/${server.account_id}/alerting/v3/destinations/webhooks`;
  const hook = await ask(server, "POST", hooks, { body: { name: "hook", url: "https://hooks.example.com/" } });
  const policy = {
    ...{ name: "deprecations", enabled: true, alert_type: "api_deprecation_ending" },
    mechanisms: { webhooks: [{ id: hook.body.result.id }], email: [{ id: "ops@example.com" }] },
  };
  const made = await ask(server, "POST", `/accounts/${server.account_id}/alerting/v3/policies`, { body: policy });
  assert.equal(made.status, 200, made.text);
}

async function createToken(server: ApiServer, name: string, api_date?: string): Promise<string> {
  const groups = await ask(server, "GET", `/accounts/${server.account_id}/tokens/permission_groups?name=Zone%20Read`);
  const resources = { [`com.cloudflare.api.account.${server.account_id}`]: { "com.cloudflare.api.account.zone.*": "*" } };
  const policies = [{ effect: "allow", resources, permission_groups: [{ id: groups.body.result[0].id }] }];
  const body = { name, policies, ...(api_date === undefined ? {} : { api_date }) };
  return (await ask(server, "POST", `/accounts/${server.account_id}/tokens`, { body })).body.result.id;
}

/** The alerts so far, oldest first, each by every mechanism of the policy. */
async function told(server: ApiServer): Promise<readonly string[]> {
  const { body } = await ask(server, "GET", `/accounts/${server.account_id}/alerting/v3/history?per_page=100`);
  const shown = (body.result as Record<string, string>[]).map((row) => `${row["mechanism_type"]} ${row["alert_body"]}`).toReversed();
  const bodies = (kind: string): string[] => shown.filter((one) => one.startsWith(kind)).map((one) => one.slice(kind.length + 1));
  assert.deepEqual(bodies("email"), bodies("webhook"), "both mechanisms tell the same");
  return bodies("email");
}

test("an account whose tokens call an endpoint that ends gets a notice 90, 30, 7 and 1 day before, once each", async () => {
  const clock = fixedClock("2026-08-20T10:00:00Z");
  const server = await startApi({ clock, mailServer: MAIL });
  try {
    await wantNotices(server);
    const [token, pinned] = [await createToken(server, "octodns"), await createToken(server, "kept", "2026-11-30")];
    const notices = server.control.deprecationNotices;
    const job = alertDeprecations(notices, [ROW, { ...ROW, id: "not-called" }, { ...ROW, id: "ended", date: "2026-08-20" }], {
      asOf: null,
    });
    const call = { account_id: server.account_id, deprecation_id: ROW.id, route: ROUTE };
    const runOn = async (day: string, calls: { token_id: string; calls: number }[] = []): Promise<unknown> => {
      clock.advance(Date.parse(`${day}T10:00:00Z`) - clock.nowMs());
      const days = [ROW.id, "ended"].flatMap((deprecation_id) => calls.map((one) => ({ ...call, ...one, deprecation_id, day })));
      await server.control.deprecationCalls.add(days as never);
      return job.run();
    };
    assert.equal(await runOn("2026-08-31", [{ token_id: token, calls: 3 }]), null, "92 days before");
    assert.deepEqual(await runOn("2026-09-02"), { told: 1 }, "90 days before");
    assert.equal(await runOn("2026-09-03"), null, "once");
    assert.equal(await runOn("2026-11-01"), null, "30 days before, but the last call was 62 days ago");
    assert.equal(
      await runOn("2026-11-02", [{ token_id: pinned, calls: 9 }]),
      null,
      "nothing ends for a token that is pinned to a day before",
    );
    assert.deepEqual(
      await runOn("2026-11-05", [{ token_id: token, calls: 1200 }]),
      { told: 1 },
      "26 days before, for the first time since 30",
    );
    assert.deepEqual(await runOn("2026-11-24"), { told: 1 }, "7 days before");
    assert.equal(
      await alertDeprecations(notices, [ROW], { asOf: "2026-01-01" }).run(),
      null,
      "nothing ends while the operator's date stands still",
    );
    assert.deepEqual(await runOn("2026-11-30"), { told: 1 }, "1 day before");
    assert.equal(await runOn("2026-12-01"), null, "it has ended");
    const bodies = await told(server);
    assert.deepEqual(
      bodies.map((body) => /ends in (\d+ days?)/.exec(body)?.[1] ?? body),
      ["90 days", "26 days", "7 days", "1 day"],
    );
    assert.match(bodies[1] ?? "", /1,200 calls depended on it, by octodns: GET \/zones\/:zone_id\/dns_records\. Use instead: nothing\./);
    const days = await server.store.read.selectFrom("deprecation_notices").select("days_left").orderBy("days_left").execute();
    assert.deepEqual(
      days.map(({ days_left }) => days_left),
      [1, 7, 30, 90],
    );
    assert.ok(clock.nowMs() > DAY_MS);
  } finally {
    await server.close();
  }
});

test("an account that subscribes between two notices gets the next one", async () => {
  const clock = fixedClock("2026-11-10T10:00:00Z");
  const server = await startApi({ clock, mailServer: MAIL });
  try {
    const token_id = await createToken(server, "late");
    await server.control.deprecationCalls.add([
      { account_id: server.account_id, deprecation_id: ROW.id, route: ROUTE, token_id, day: "2026-11-09", calls: 1 },
    ]);
    const job = alertDeprecations(server.control.deprecationNotices, [ROW], { asOf: null });
    assert.equal(await job.run(), null);
    await wantNotices(server);
    assert.deepEqual(await job.run(), { told: 1 });
    assert.equal(await job.run(), null);
  } finally {
    await server.close();
  }
});
