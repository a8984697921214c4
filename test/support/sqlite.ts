import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "#kernel/clock.ts";
import { openStore } from "#store/database/open.ts";

/** The database file and its write-ahead log. */
const PARTS = ["", "-wal"] as const;

let prepared: Promise<string> | undefined;

/** Creates a control database without rows at `file` and returns its URL. A copy takes a tenth of the time of the migrations. */
export async function copySqliteDatabase(file: string): Promise<string> {
  const from = await (prepared ??= prepare());
  for (const part of PARTS) if (existsSync(from + part)) copyFileSync(from + part, file + part);
  return `sqlite:${file}`;
}

async function prepare(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-prepared-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "control.db");
  await (await openStore({ url: `sqlite:${file}`, clock: systemClock })).close();
  return file;
}
