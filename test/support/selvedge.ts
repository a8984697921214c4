import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { ReadyLine } from "#app/operations/ready.ts";
import { closedInTheEnd } from "#kernel/testing/left-open.ts";
import { eventually } from "./eventually.ts";

/** A server in a separate process, as an operator runs it. */
export interface Selvedge {
  readonly ready: ReadyLine;
  readonly dataDir: string;
  readonly pid: number;
  /** Standard output and error so far, the last 256 KiB. */
  log(): string;
  /** Resolves when the log contains the text: lines arrive through a pipe, perhaps after what they tell of. */
  logged(text: RegExp): Promise<void>;
  /** SIGTERM; resolves when the process has ended. Throws with the log at the timeout. */
  stop(timeoutMs?: number): Promise<Exit>;
  /** SIGKILL: the power cut. */
  kill(): Promise<Exit>;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartOptions {
  /** More flags for `selvedge start`. */
  readonly args?: readonly string[];
  /** Undefined removes a variable that tests set by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A state directory that outlives the server; without one, a temporary one lives as long as it. */
  readonly dataDir?: string;
  readonly timeoutMs?: number;
  /** Path of `bin/selvedge.js`; without one, that of these sources. */
  readonly program?: string;
  /** Whose process it is; without one, this one's user's. */
  readonly identity?: { readonly uid: number; readonly gid: number } | undefined;
}

/** Timeout of a start. On a busy machine a successful start can take most of it. */
const READY_LIMIT_MS = 180_000;
const root = dirname(dirname(import.meta.dirname));
/** A response of the API means that the planes have the change, however busy the machine is, so callers may retry until then. */
const PATIENT = { SELVEDGE_WAF_CRS_DIRECTORY: "none", SELVEDGE_API_PROPAGATION_TIMEOUT_MS: "60000", SELVEDGE_API_RATE_LIMIT_REQUESTS: "0" };
/** Ports that the system chooses. */
export const FREE_PORTS = ["--api-port", "0", "--gateway-port", "0", "--dns-port", "0", "--http-port", "0", "--https-port", "0"];

/** Starts a server on free loopback ports and waits for its ready line. Throws with the log when there is none. */
export async function startSelvedge(options: StartOptions = {}): Promise<Selvedge> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "selvedge-")));
  if (options.identity !== undefined) await chown(dataDir, options.identity.uid, options.identity.gid);
  const program = options.program ?? join(root, "bin/selvedge.js");
  const args = [program, "start", "--data", dataDir, ...FREE_PORTS, "--json", ...(options.args ?? [])];
  const child = spawn(process.execPath, args, {
    ...options.identity,
    env: { ...cleanEnvironment(), ...PATIENT, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const killWithUs = (): void => void child.kill("SIGKILL");
  process.once("exit", killWithUs);
  const exited = once(child, "exit").then(([code, signal]): Exit => ({ code, signal }));
  const log = keepLog(child);
  const killInTheEnd = closedInTheEnd(() => child.kill("SIGKILL"));
  const end = async (signal: NodeJS.Signals, timeoutMs: number): Promise<Exit> => {
    child.kill(signal);
    const exit = await within(exited, timeoutMs, () => `selvedge did not end ${timeoutMs} ms after ${signal}\n${log()}`).finally(
      killWithUs,
    );
    process.off("exit", killWithUs);
    killInTheEnd();
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    return exit;
  };
  try {
    const early = exited.then(({ code, signal }): never => {
      throw new Error(`selvedge ended with ${code ?? signal} before it was ready\n${log()}`);
    });
    const timeoutMs = options.timeoutMs ?? READY_LIMIT_MS;
    const ready = await within(
      Promise.race([readyLine(child), early]),
      timeoutMs,
      () => `selvedge was not ready after ${timeoutMs} ms\n${log()}`,
    );
    return {
      ready,
      dataDir,
      pid: ready.pid,
      log,
      logged: (text) =>
        eventually(() => text.test(log())).catch(() => {
          throw new Error(`the log does not contain ${text}; it ends with\n${log().slice(-SHOWN)}`);
        }),
      stop: (stopTimeoutMs = 120_000) => end("SIGTERM", stopTimeoutMs),
      kill: () => end("SIGKILL", 60_000),
    };
  } catch (error) {
    await end("SIGKILL", 60_000);
    throw error;
  }
}

/** One call of the management API; the path starts after `/client/v4`. */
export async function api(
  selvedge: Selvedge,
  token: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: any }> {
  const res = await fetch(selvedge.ready.api + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    signal: AbortSignal.timeout(120_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: res.status, body: await res.json() };
}

/** Our caller's own configuration must not leak into the server. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(SELVEDGE|NODE_TEST)_/.test(name)));

const LOG_LENGTH_MAX = 256 * 1024;
/** Characters of a log in an error. */
const SHOWN = 4096;

function keepLog(child: ChildProcess): () => string {
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      text = (text + chunk).slice(-LOG_LENGTH_MAX);
    });
  }
  return () => text;
}

function readyLine(child: ChildProcess): Promise<ReadyLine> {
  const { promise, resolve } = Promise.withResolvers<ReadyLine>();
  if (!child.stdout) throw new Error("the server has no standard output");
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    const ready = parseReady(line);
    if (!ready) return;
    lines.close();
    child.stdout?.resume();
    resolve(ready);
  });
  return promise;
}

function parseReady(line: string): ReadyLine | undefined {
  try {
    const value = JSON.parse(line) as Partial<ReadyLine>;
    return value.event === "ready" ? (value as ReadyLine) : undefined;
  } catch {
    return undefined;
  }
}

async function within<T>(work: Promise<T>, timeoutMs: number, problem: () => string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(problem())), timeoutMs);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
