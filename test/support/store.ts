import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemClock } from "#kernel/clock.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { type OwnPostgres, sharedPostgres, startPostgres, type TestPostgres } from "./postgres.ts";
import { copySqliteDatabase } from "./sqlite.ts";
import { toolOrSkip } from "./tools.ts";

export interface StoreFixture {
  readonly dialect: "sqlite" | "postgres";
  readonly url: string;
  readonly store: Store;
  /** A second node on the same database. */
  open(): Promise<Store>;
}

/** One test on each dialect, with a new database that has all tables and no rows. */
export function storeTest(name: string, body: (fixture: StoreFixture) => Promise<void>): void {
  onEachDialect(
    name,
    {
      sqlite: copySqliteDatabase,
      postgres: () => server().copyDatabase(async (url) => (await openStore({ url, clock: systemClock })).close()),
    },
    (url, dialect) => withStores(dialect, url, body),
  );
}

/** As `storeTest`, for tests that open the store themselves, on a database without any table. */
export const databaseTest = (name: string, body: DatabaseTest): void =>
  onEachDialect(name, { sqlite: async (file) => `sqlite:${file}`, postgres: () => server().createDatabase() }, body);

type DatabaseTest = (url: string, dialect: "sqlite" | "postgres") => Promise<void>;

/** Makes the database of a test and returns its URL. */
interface MakeDatabase {
  readonly sqlite: (file: string) => Promise<string>;
  readonly postgres: () => Promise<string>;
}

function onEachDialect(name: string, make: MakeDatabase, body: DatabaseTest): void {
  test(`sqlite: ${name}`, async () => {
    const directory = mkdtempSync(join(tmpdir(), "selvedge-store-"));
    try {
      await body(await make.sqlite(join(directory, "control.db")), "sqlite");
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
  test(`postgres: ${name}`, { skip: toolOrSkip("postgres") }, async () => {
    const url = await make.postgres();
    await body(url, "postgres");
    await server().dropDatabase(url);
  });
}

async function withStores(dialect: "sqlite" | "postgres", url: string, body: (fixture: StoreFixture) => Promise<void>): Promise<void> {
  const stores: Store[] = [];
  const open = async (): Promise<Store> => {
    const store = await openStore({ url, clock: systemClock });
    stores.push(store);
    return store;
  };
  try {
    await body({ dialect, url, store: await open(), open });
  } finally {
    for (const store of stores) await store.close();
  }
}

let own: OwnPostgres | undefined;

/** The run's server, or one for this file if it runs alone. */
const server = (): TestPostgres => sharedPostgres() ?? (own ??= startPostgres());

after(async () => own?.stop());
