import assert from "node:assert/strict";
import { systemClock } from "#kernel/clock.ts";
import { databaseTest } from "../../test/support/store.ts";
import { MIGRATIONS, migrate } from "#store/database/migrate.ts";
import { createPostgres } from "#store/database/backends/postgres.ts";
import { DIALECTS } from "#store/queries/session.ts";
import { openSqlite } from "#store/database/backends/sqlite.ts";

const EVERYTHING = [
  ["686d18d5ac6c441c867cbf6771e58a0a", "API Tokens Write"],
  ["5bc3f8b21c554832afc660159ab75fa4", "Account API Tokens Write"],
  ["56907406c3d548ed902070ec4df0e328", "Account Rulesets Write"],
  ["644535f4ed854494a59cb289d634b257", "AI Gateway Run"],
  ["4755a26eedb94da69e1066d98aa820be", "DNS Write"],
  ["e6d2666161e84845a636613608cee8d5", "Zone Write"],
  ["fb6778dc191143babbfaa57993f1d275", "Zone WAF Write"],
] as const;

const policies = (effect: "allow" | "deny", names: readonly string[]): string =>
  JSON.stringify([
    {
      id: "p",
      effect,
      resources: {},
      permission_groups: EVERYTHING.filter(([, name]) => names.includes(name)).map(([id, name]) => ({ id, name })),
    },
  ]);

databaseTest("tokens with every permission get those of single phases, and others do not", async (url, dialect) => {
  const server = dialect === "postgres" ? createPostgres(url) : null;
  const session = server ? await server.connect({ statementTimeoutMs: 10_000 }) : openSqlite(url.slice("sqlite:".length), "migrate");
  try {
    await migrate(
      session,
      DIALECTS[dialect],
      systemClock,
      MIGRATIONS.filter(({ version }) => version < 13),
    );
    const all = EVERYTHING.map(([, name]) => name);
    for (const [id, text] of [
      ["all", policies("allow", all)],
      ["waf", policies("allow", ["Zone WAF Write"])],
      ["denied", policies("deny", all)],
    ])
      await session.query(
        `INSERT INTO tokens (id, name, hash, status, policies, issued_on, modified_on, bootstrap) VALUES ('${id}', '', '${id}', 'active', '${text}', '', '', 0)`,
      );
    await migrate(session, DIALECTS[dialect], systemClock);
    const { rows } = await session.query("SELECT id, policies FROM tokens");
    const names = (id: string): readonly string[] => {
      const row = rows.find((one) => one["id"] === id);
      return JSON.parse(String(row?.["policies"]))[0].permission_groups.map((group: { readonly name: string }) => group.name);
    };
    assert.equal(names("all").length, all.length + 18);
    assert.ok(
      ["Cache Settings Write", "Zone Transform Rules Write", "Mass URL Redirects Write"].every((name) => names("all").includes(name)),
    );
    assert.deepEqual([names("waf"), names("denied").length], [["Zone WAF Write"], all.length]);
  } finally {
    await session.close();
    await server?.close();
  }
});
