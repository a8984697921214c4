import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { cpus } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findTool } from "../../tools/system-tools.ts";
import { processTree } from "./cpu-time.ts";

const execute = promisify(execFile);
const LOAD_TIMEOUT_MS = 120_000;

/** Runs a load generator to its end, off the first CPU where there is another, and returns what it printed. */
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

/** A server of somebody else. */
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
  for (let attempt = 0; ; attempt++) {
    if (child.exitCode !== null || child.pid === undefined) throw new Error(`${name} ended with ${child.exitCode}\n${errors()}`);
    try {
      await probe();
      return { pid: child.pid, stop };
    } catch (error) {
      if (attempt === 100) {
        await stop();
        throw new Error(`${name} does not answer\n${errors()}`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** The server, its threads and its children run on the first CPU from now on, so that the load has the others. */
export const pinToFirstCpu = (pid: number): Promise<void> => pinTo("0", pid);

/** An origin and the like, which must not take the measured server's time. */
export const pinToOtherCpus = (pid: number): Promise<void> => pinTo(otherCpus(), pid);

async function pinTo(cpuList: string, pid: number): Promise<void> {
  for (const member of processTree(pid)) await execute("taskset", ["--all-tasks", "--cpu-list", "--pid", cpuList, String(member)]);
}

/** Those that load and origins have to themselves, as taskset(1) takes them. */
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
