import { writeSync } from "node:fs";
import { systemClock } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { openStore } from "#store/database/open.ts";
import { someAudit } from "./audit.ts";

// A process that writes units and prints the name of each once it is acknowledged.
// Arguments: URL of the database, how many units, how many at a time, and `bulk` for units of large changes.
const [url = "", units = "0", concurrency = "1", kind] = process.argv.slice(2);
const options = kind === "bulk" ? { bulkOf: "a" } : {};
const store = await openStore({ url, clock: systemClock });
let left = Number(units);

async function writeUnits(): Promise<void> {
  while (left-- > 0) {
    const name = newId();
    await store.write(async (unit) => {
      await unit.db.insertInto("secrets").values({ name, value: "v", created_on: "" }).execute();
      unit.change({ kind: "serial", id: name, value: { serial: 1 } });
      unit.audit({ ...someAudit, resource: { type: "test", id: name } });
    }, options);
    writeSync(1, `${name}\n`);
  }
}

await Promise.all(Array.from({ length: Number(concurrency) }, writeUnits));
await store.close();
