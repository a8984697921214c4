import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { findTool } from "../../tools/system-tools.ts";

/** A PostgreSQL server of one's own, thrown away at the end. */
export interface TestPostgres {
  /** A new, empty database. */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a server on a Unix socket in a temporary directory. `syncToDisk` makes commits as slow as real ones. */
export async function startPostgres({ syncToDisk = false } = {}): Promise<TestPostgres> {
  const postgres = findTool("postgres");
  if (postgres === undefined) throw new Error("PostgreSQL is not installed: apt-get install postgresql");
  // The link that the PATH leads to may stand apart from the server's other programs.
  const bin = dirname(realpathSync(postgres));
  const directory = mkdtempSync(join(tmpdir(), "selvedge-pg-"));
  const owner = serverOwner();
  if (owner) chownSync(directory, owner.uid, owner.gid);
  const as = { ...owner, cwd: directory };
  const data = join(directory, "data");
  const cluster = ["-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"];
  const { status, stderr } = spawnSync(join(bin, "initdb"), cluster, { ...as, encoding: "utf8", timeout: INIT_TIMEOUT_MS });
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
  const settings = [
    "listen_addresses=",
    `unix_socket_directories=${directory}`,
    `fsync=${syncToDisk ? "on" : "off"}`,
    "max_connections=60",
  ];
  const server = spawn(join(bin, "postgres"), ["-D", data, ...settings.flatMap((setting) => ["-c", setting])], { ...as, stdio: "ignore" });
  // A test process that dies early must not leave a server behind.
  const stopNow = (): void => void server.kill("SIGQUIT");
  process.once("exit", stopNow);
  const stop = async (): Promise<void> => {
    process.off("exit", stopNow);
    if (server.exitCode === null && server.signalCode === null) {
      const exited = new Promise((resolve) => server.once("exit", resolve));
      stopNow();
      await exited;
    }
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await untilReady(server, directory);
  } catch (error) {
    await stop();
    throw error;
  }
  let databases = 0;
  return {
    createDatabase: async () => {
      const name = `test_${++databases}`;
      await runStatement(directory, `CREATE DATABASE ${name}`);
      return databaseUrl(directory, name);
    },
    stop,
  };
}

const INIT_TIMEOUT_MS = 60_000;
const READY_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 50;

const databaseUrl = (directory: string, name: string): string => `postgres://postgres@/${name}?host=${encodeURIComponent(directory)}`;

async function runStatement(directory: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl(directory, "postgres"), connectionTimeoutMillis: READY_TIMEOUT_MS });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function untilReady(server: ChildProcess, directory: string): Promise<void> {
  let reason: unknown;
  for (let waited = 0; waited < READY_TIMEOUT_MS; waited += READY_POLL_MS) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL exited with ${server.exitCode}`);
    try {
      return await runStatement(directory, "SELECT 1");
    } catch (error) {
      reason = error;
    }
    await delay(READY_POLL_MS);
  }
  throw new Error("PostgreSQL did not start in time", { cause: reason });
}

/** The server refuses to run as root; then it runs as the packages' own user. */
function serverOwner(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string): number => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}
