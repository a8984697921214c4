import { writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { MessageChannel, Worker } from "node:worker_threads";
import type { RowsMessage, WrittenMessage } from "#events/rows/messages.ts";
import { packed, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { DEFAULT_RETENTION } from "#events/write/writer-config.ts";

// A process that sends batches of event rows to the writer thread, and prints the name of each acknowledged batch with
// its number of rows per table, until it is killed. Arguments: the database file, and the prefix of the names.
const [path = "", name = ""] = process.argv.slice(2);
/** Some are written row by row, some as blocks, and several together. */
const SIZES = [1, 7, 63, 64, 200, 900];
const UNDER_WAY = 8;

const { port1, port2 } = new MessageChannel();
const writer = new Worker(new URL("../../src/events/write/writer.ts", import.meta.url), {
  workerData: { path, ports: [port1], retention: DEFAULT_RETENTION },
  transferList: [port1],
});
writer.on("message", (message) => {
  if (message.type === "log") writeSync(2, `${message.message}\n`);
});

const sizeOf = (batch: number): number => SIZES[batch % SIZES.length]!;
let acknowledged = 0;
port2.on("message", ({ batch }: WrittenMessage) => {
  acknowledged++;
  writeSync(1, `${name}-${batch} ${sizeOf(batch)}\n`);
});
for (let batch = 0; ; batch++) {
  const rows = Array.from({ length: sizeOf(batch) }, (_, row) => ({
    ray_id: `${name}-${batch}`,
    at_ms: Date.now(),
    zone_id: `zone-${row % 3}`,
    method: row % 5 === 0 ? "POST" : "GET",
    path: `/${row}`,
    user_agent: `agent/${batch % 50}`,
  }));
  const tables = [
    packed("requests", rows.map(testRequestRow)),
    packed(
      "security_events",
      rows.map((row, n) => testSecurityRow({ ...row, id: `${name}-${batch}-${n}` })),
    ),
  ];
  port2.postMessage({ type: "rows", batch, tables } satisfies RowsMessage);
  do await delay(2);
  while (batch - acknowledged >= UNDER_WAY);
}
