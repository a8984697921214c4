import { existsSync } from "node:fs";
import { systemClock } from "#kernel/clock.ts";
import { checkLastGood, lastGoodPosition } from "#snapshot/last-good/last-good.ts";
import { openStore } from "#store/database/open.ts";
import { openSqlite } from "#store/database/sqlite.ts";
import { databaseUrl, loadConfig } from "#app/config/config.ts";
import { lockDataDirectory } from "#app/control/data-lock.ts";
import { inspectedDatabase } from "#app/control/open-database.ts";
import { planeFiles } from "#app/planes/plane-files.ts";
import { configInput } from "./config-input.ts";
import { CliError, columns, EXIT, type ExitCode, print } from "./outcome.ts";

export interface DoctorOptions {
  /** The database was put back on purpose: what was served is another history. */
  readonly newHistory?: boolean;
}

interface Finding {
  readonly what: string;
  readonly finding: string;
  readonly isGood: boolean;
}

const SQLITE = "sqlite:";

/** Looks through everything that the data directory holds, which no server may use meanwhile. Exits 1 where something is wrong. */
export async function doctor({ newHistory = false }: DoctorOptions, flags: readonly string[]): Promise<ExitCode> {
  const config = loadConfig(configInput(flags));
  if (!existsSync(config.data)) throw new CliError(`there is no data directory at ${config.data}`);
  const lock = lockOrComplain(config.data);
  try {
    const files = planeFiles(config.data);
    const url = databaseUrl(config);
    const complaints: string[] = [];
    const lastGood = await checkLastGood(files.lastGood, (_level, message, fields) =>
      complaints.push(`${message} ${JSON.stringify(fields)}`),
    );
    const position = lastGood && lastGoodPosition(lastGood);
    const findings: Finding[] = [];
    const note = (what: string, wrong: string | null, good: string): void =>
      void findings.push({ what, finding: wrong ?? good, isGood: wrong === null });
    note("last good copy", complaints[0] ?? null, position === null ? "there is none" : `good, at revision ${position.rev}`);
    if (url.startsWith(SQLITE) && existsSync(url.slice(SQLITE.length)))
      note("database file", await wrongIn(url.slice(SQLITE.length)), "good");
    if (existsSync(files.events)) note("events database", await wrongIn(files.events), "good");
    if (newHistory && findings.every(({ isGood }) => isGood)) {
      const store = await openStore({ url, clock: systemClock });
      await store.renewHistory();
      await store.close();
    }
    try {
      const deps = { config, files, lastGood: position, newInstallation: false };
      const { position: at } = await inspectedDatabase(deps);
      note("database", null, at === null ? "there is none" : `good, at revision ${at.rev} of history ${at.history ?? "none"}`);
    } catch (error) {
      note("database", (error as Error).message, "");
    }
    const isGood = findings.every((one) => one.isGood);
    print(config.json, { good: isGood, findings }, columns(findings.map(({ what, finding }) => [what, finding])));
    return isGood ? EXIT.ok : EXIT.failed;
  } finally {
    lock.release();
  }
}

function lockOrComplain(dataDir: string): { release(): void } {
  try {
    return lockDataDirectory(dataDir);
  } catch (error) {
    throw new CliError((error as Error).message);
  }
}

/** What SQLite finds wrong first, indexes and references included, or null. */
async function wrongIn(path: string): Promise<string | null> {
  try {
    const session = openSqlite(path, "read");
    try {
      const [first] = (await session.query("PRAGMA integrity_check(1)")).rows;
      const text = String(Object.values(first ?? {})[0]);
      return text === "ok" ? null : `${text.replaceAll("\n", " ")}; restore it from a backup`;
    } finally {
      await session.close();
    }
  } catch (error) {
    return `${(error as Error).message}; restore it from a backup`;
  }
}
