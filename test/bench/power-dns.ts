import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { freePort, type Server, startTool } from "./program.ts";

/** PowerDNS with its API over SQLite, a common small installation. */
export interface PowerDns extends Server {
  readonly port: number;
  /** Host, port and key of the API; paths below `/api/v1/servers/localhost`. */
  readonly api: { readonly host: string; readonly port: number; readonly key: string };
  /** Creates the zone, from a zone file's text if given. Throws with the response unless it succeeds. */
  importZone(name: string, text?: string): Promise<void>;
  removeZone(name: string): Promise<void>;
  /** Replaces and deletes record sets in one request. */
  changeSets(zone: string, sets: readonly PowerDnsChange[]): Promise<void>;
}

export interface PowerDnsChange {
  /** Absolute, with the final dot. */
  readonly name: string;
  readonly type: string;
  readonly ttl?: number;
  readonly changetype: "REPLACE" | "DELETE";
  readonly records?: readonly { readonly content: string; readonly disabled: boolean }[];
}

const SCHEMA = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql";
const KEY = "benchmark";
export const POWER_DNS_PATH = "/api/v1/servers/localhost";

export async function startPowerDns(home: string): Promise<PowerDns> {
  await mkdir(home);
  const [port, apiPort] = [await freePort(), await freePort()];
  const path = join(home, "pdns.sqlite3");
  const database = new DatabaseSync(path);
  // Its fastest durable mode, which stays with the file.
  database.exec(`PRAGMA journal_mode = WAL; ${await readFile(SCHEMA, "utf8")}`);
  database.close();
  const settings = {
    launch: "gsqlite3",
    "gsqlite3-database": path,
    // As durable as our own writes are.
    "gsqlite3-pragma-synchronous": "2",
    "local-address": "127.0.0.1",
    "local-port": port,
    "socket-dir": home,
    "receiver-threads": 1,
    "distributor-threads": 1,
    "zone-cache-refresh-interval": 1,
    api: "yes",
    "api-key": KEY,
    webserver: "yes",
    "webserver-address": "127.0.0.1",
    "webserver-port": apiPort,
    "webserver-max-bodysize": 64,
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}`);
  await writeFile(join(home, "pdns.conf"), `${lines.join("\n")}\n`);

  const call = async (method: string, resource: string, body?: object): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${apiPort}${POWER_DNS_PATH}${resource}`, {
      method,
      headers: { "x-api-key": KEY, "content-type": "application/json" },
      signal: AbortSignal.timeout(120_000),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`PowerDNS answered ${method} ${resource} with ${answer.status}: ${text.slice(0, 500)}`);
  };
  const server = await startTool("pdns_server", [`--config-dir=${home}`, "--daemon=no", "--guardian=no"], () => call("GET", ""));
  return {
    ...server,
    port,
    api: { host: "127.0.0.1", port: apiPort, key: KEY },
    importZone: (name, text) =>
      call("POST", "/zones", {
        name: `${name}.`,
        kind: "Native",
        ...(text === undefined ? { nameservers: ["ns1.example.net."] } : { zone: text }),
      }),
    removeZone: (name) => call("DELETE", `/zones/${name}.`),
    changeSets: (zone, rrsets) => call("PATCH", `/zones/${zone}.`, { rrsets }),
  };
}
