import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** A PostgreSQL server of one's own, thrown away at the end. */
export interface TestPostgres {
  /** A new, empty database. */
  createDatabase(): string;
  stop(): Promise<void>;
}

/** Directory of the server's programs, or null where PostgreSQL is not installed. */
export function postgresPrograms(): string | null {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(root, version, "bin")).find((bin) => existsSync(join(bin, "postgres"))) ?? null;
}

/** Starts a server on a Unix socket in a temporary directory. `syncToDisk` makes commits as slow as real ones. */
export async function startPostgres({ syncToDisk = false } = {}): Promise<TestPostgres> {
  const bin = postgresPrograms();
  if (bin === null) throw new Error("PostgreSQL is not installed: apt-get install postgresql");
  const directory = mkdtempSync(join(tmpdir(), "selvedge-pg-"));
  const owner = serverOwner();
  if (owner) chownSync(directory, owner.uid, owner.gid);
  const as = { ...owner, cwd: directory };
  const data = join(directory, "data");
  const run = (program: string, args: readonly string[]): void => {
    const { status, stderr } = spawnSync(join(bin, program), args, { ...as, encoding: "utf8", timeout: 60_000 });
    if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
  };
  run("initdb", ["-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"]);
  const flush = syncToDisk ? "on" : "off";
  const settings = ["listen_addresses=", `unix_socket_directories=${directory}`, `fsync=${flush}`, "max_connections=60"];
  const server = spawn(join(bin, "postgres"), ["-D", data, ...settings.flatMap((setting) => ["-c", setting])], { ...as, stdio: "ignore" });
  // A test process that dies early must not leave a server behind.
  const stopNow = (): void => void server.kill("SIGQUIT");
  process.once("exit", stopNow);
  await untilReady(bin, directory, server);
  let databases = 0;
  return {
    createDatabase: () => {
      const name = `test_${++databases}`;
      run("createdb", ["-h", directory, "-U", "postgres", name]);
      return `postgres://postgres@/${name}?host=${encodeURIComponent(directory)}`;
    },
    stop: async () => {
      process.off("exit", stopNow);
      if (server.exitCode === null) {
        const exited = new Promise((resolve) => server.once("exit", resolve));
        stopNow();
        await exited;
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const READY_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 50;

async function untilReady(bin: string, directory: string, server: ChildProcess): Promise<void> {
  for (let waited = 0; waited < READY_TIMEOUT_MS; waited += READY_POLL_MS) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL exited with ${server.exitCode}`);
    if (spawnSync(join(bin, "pg_isready"), ["-q", "-h", directory]).status === 0) return;
    await delay(READY_POLL_MS);
  }
  throw new Error("PostgreSQL did not start in time");
}

/** The server refuses to run as root; then it runs as the packages' own user. */
function serverOwner(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string): number => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}
