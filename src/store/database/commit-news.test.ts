import { test } from "node:test";
import pg from "pg";
import { systemClock } from "#kernel/clock.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { sharedPostgres, startPostgres } from "../../../test/support/postgres.ts";
import { toolOrSkip } from "../../../test/support/tools.ts";
import { openStore } from "./open.ts";
import type { Store } from "./store.ts";

const change = (store: Store): Promise<unknown> =>
  store.write(async (unit) => {
    unit.change({ kind: "test", id: "a", value: null });
    unit.audit({
      ...{ action: "test.change", account_id: null, zone_id: null, resource: { type: "test", id: "a" } },
      actor: { type: "system", id: "test", ip: "" },
    });
  });

test(
  "a store hears of the commits of others, also after its connection was ended",
  { skip: toolOrSkip("postgres"), timeout: 120_000 },
  async (t) => {
    const shared = sharedPostgres();
    const own = shared === null ? startPostgres() : null;
    t.after(() => own?.stop());
    const url = await (shared ?? own!).createDatabase();
    const [writer, listener] = [await openStore({ url, clock: systemClock }), await openStore({ url, clock: systemClock })];
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    const listening = async (): Promise<readonly number[]> =>
      (
        await admin.query("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN selvedge_changes'")
      ).rows.map(({ pid }) => pid as number);
    let heard = 0;
    listener.onCommit(() => heard++);
    await eventually(async () => (await listening()).length === 2);
    const before = heard;
    await change(writer);
    await eventually(() => heard > before);

    const lost = await listening();
    await admin.query("SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid", [lost]);
    await eventually(async () => (await listening()).filter((pid) => !lost.includes(pid)).length === 2);
    const again = heard;
    await change(writer);
    await eventually(() => heard > again);
    await admin.end();
    await listener.close();
    await writer.close();
  },
);
