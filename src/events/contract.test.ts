import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testEventContract } from "../../test/support/event-contract.ts";
import { openEventDatabase } from "#events/database/database.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { localReads } from "#events/read/read-client.ts";

testEventContract("the embedded database", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-contract-"));
  const path = join(directory, "events.db");
  const database = openEventDatabase(path);
  const queries = openEventQueries(path);
  t.after(() => {
    queries.close();
    database.close();
    rmSync(directory, { recursive: true });
  });
  return { insert: async (tables) => database.insert(tables), reads: localReads(queries) };
});
