import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closedInTheEnd } from "#kernel/testing/left-open.ts";
import { openRedis } from "#wire/redis/redis-connection.ts";
import type { RedisReply } from "#wire/redis/resp.ts";
import { findTool } from "../../tools/system-tools.ts";
import { freePort } from "../bench/program.ts";
import { eventually } from "./eventually.ts";

/** A real redis-server, in a temporary directory. */
export interface RedisProcess {
  readonly url: string;
  readonly port: number;
  /** Of the bus of its cluster; 0 without one. */
  readonly clusterPort: number;
  start(): Promise<void>;
  /** SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
  /** SIGSTOP, and SIGCONT again. */
  freeze(isFrozen: boolean): void;
  /** Runs a command over a connection of its own. */
  run(...command: readonly (string | number)[]): Promise<RedisReply>;
  /** Kills it and deletes the directory. */
  stop(): Promise<void>;
}

const TIMEOUT_MS = 60_000;

/** `options`: more options of redis-server, as `--requirepass secret`; `credentials`: their part of the URL. */
export async function startRedis(options: readonly string[] = [], credentials = ""): Promise<RedisProcess> {
  const program = findTool("redis-server");
  if (program === undefined) throw new Error("redis-server is not installed: apt-get install redis-server");
  const directory = mkdtempSync(join(tmpdir(), "selvedge-redis-"));
  const port = await freePort();
  // The default, ten thousand above the port, may be no port.
  const clusterPort = options.includes("--cluster-enabled") ? await freePort() : 0;
  const cluster = clusterPort === 0 ? [] : ["--cluster-port", String(clusterPort)];
  const url = `redis://${credentials}127.0.0.1:${port}`;
  let child: ChildProcess | null = null;
  let forget = (): void => undefined;
  const run = async (...command: readonly (string | number)[]): Promise<RedisReply> => {
    const connection = await openRedis({ url, ca: "", timeoutMs: TIMEOUT_MS });
    try {
      return await connection.call(...command);
    } finally {
      connection.close();
    }
  };
  const server: RedisProcess = {
    ...{ url, port, clusterPort, run },
    start: async () => {
      const args = ["--port", String(port), "--bind", "127.0.0.1", "--dir", directory, "--save", "", ...options, ...cluster];
      const started = spawn(program, args, { stdio: "ignore" });
      child = started;
      forget = closedInTheEnd(() => started.kill("SIGKILL"));
      await eventually(() =>
        run("PING").then(
          () => true,
          () => false,
        ),
      );
    },
    kill: async () => {
      if (child === null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
      forget();
      child = null;
    },
    freeze: (isFrozen) => void child?.kill(isFrozen ? "SIGSTOP" : "SIGCONT"),
    stop: async () => {
      await server.kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}
