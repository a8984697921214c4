import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { findTool } from "../../tools/system-tools.ts";
import { processTree } from "./cpu-time.ts";

const execute = promisify(execFile);
const LOAD_TIMEOUT_MS = 120_000;
/** Timeout of a start. On a busy machine a successful start can take most of it. */
const START_LIMIT_MS = 120_000;

/** Runs a load generator to its end, off the first CPU if there is another, and returns its output. */
export const runTool = (name: string, args: readonly string[]): Promise<string> => run(toolPath(name), args);

/** The same for a program of this directory. */
export const runScript = (script: string, args: readonly string[]): Promise<string> =>
  run(process.execPath, [join(import.meta.dirname, script), ...args]);

async function run(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execute("taskset", ["--cpu-list", otherCpus(), command, ...args], {
    timeout: LOAD_TIMEOUT_MS,
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

/** A server of another project. */
export interface Server {
  readonly pid: number;
  stop(): Promise<void>;
}

type Probe = () => Promise<unknown>;

/** Starts the server and waits until the probe succeeds. */
export const startTool = (
  name: string,
  args: readonly string[],
  probe: Probe,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> => start(name, toolPath(name), args, probe, env);

/** The same for a program of this directory. */
export const startScript = (script: string, args: readonly string[], probe: Probe): Promise<Server> =>
  start(script, process.execPath, [join(import.meta.dirname, script), ...args], probe, {});

/** The same for a program of this path. */
export const startProgram = (name: string, command: string, args: readonly string[], probe: Probe): Promise<Server> =>
  start(name, command, args, probe, {});

async function start(
  name: string,
  command: string,
  args: readonly string[],
  probe: Probe,
  env: Readonly<Record<string, string>>,
): Promise<Server> {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env } });
  const errors = keepErrors(child);
  const killWithUs = (): void => void child.kill("SIGKILL");
  process.once("exit", killWithUs);
  const stop = async (): Promise<void> => {
    process.off("exit", killWithUs);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  };
  for (const started = performance.now(); ; await delay(50)) {
    const ended = child.exitCode ?? child.signalCode;
    if (ended !== null || child.pid === undefined) throw new Error(`${name} ended with ${ended}\n${errors()}`);
    try {
      await probe();
      return { pid: child.pid, stop };
    } catch (error) {
      if (performance.now() - started < START_LIMIT_MS) continue;
      await stop();
      throw new Error(`${name} does not answer\n${errors()}`, { cause: error });
    }
  }
}

/** Below the kernel's ephemeral ports, because another process may get an ephemeral port that was free a moment ago. */
const PORTS = { from: 20_000, to: 32_000 } as const;
const given = new Set<number>();

/** A port of 127.0.0.1 that was free a moment ago, for TCP and UDP, and is given once. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error("no port");
}

async function isFree(port: number): Promise<boolean> {
  const [server, socket] = [createServer(), createSocket("udp4")];
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    socket.bind(port, "127.0.0.1");
    await once(socket, "listening");
    return true;
  } catch {
    return false;
  } finally {
    const closed = server.listening ? once(server, "close") : undefined;
    server.close();
    socket.close();
    await closed;
  }
}

/** Pins the server, its threads and its children to the first CPU, so that the load gets the others. */
export const pinToFirstCpu = (pid: number): Promise<void> => pinTo("0", pid);

/** Pins an origin and the like to the other CPUs, so that it takes none of the measured server's time. */
export const pinToOtherCpus = (pid: number): Promise<void> => pinTo(otherCpus(), pid);

async function pinTo(cpuList: string, pid: number): Promise<void> {
  for (const member of processTree(pid)) await execute("taskset", ["--all-tasks", "--cpu-list", "--pid", cpuList, String(member)]);
}

/** CPU numbers in the format of taskset(1). */
export const allCpus = (): string => `0-${cpus().length - 1}`;

/** CPUs reserved for load and origins, in taskset(1)'s format. */
export const otherCpus = (): string => (cpus().length === 1 ? "0" : `1-${cpus().length - 1}`);

export function toolPath(name: string): string {
  const path = findTool(name);
  if (path === undefined) throw new Error(`${name} is not installed`);
  return path;
}

function keepErrors(child: ChildProcess): () => string {
  let text = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    text = (text + chunk).slice(-16_384);
  });
  return () => text;
}
