import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** The last line of a start with `--json`, as operators read it. */
interface ReadyLine {
  readonly api: string;
  readonly http: string;
  readonly https: string;
  readonly token?: string;
  readonly account_id: string;
}

export interface BlackBox {
  readonly ready: ReadyLine;
  stop(): Promise<void>;
}

const PROGRAM = join(import.meta.dirname, "../../../bin/selvedge.js");
const START_LIMIT_MS = 180_000;
const CALL_LIMIT_MS = 60_000;
const LOG_CHARACTERS_MAX = 4_000;

/** Starts the program by its command line, and waits until it is ready. */
export async function startBlackBox(dataDir: string, flags: readonly string[]): Promise<BlackBox> {
  const ports = ["--api-port", "0", "--gateway-port", "0", "--dns-port", "0", "--http-port", "0", "--https-port", "0"];
  const child = spawn(process.execPath, [PROGRAM, "start", "--data", dataDir, ...ports, "--json", ...flags], {
    env: { ...process.env, SELVEDGE_WAF_CRS_DIRECTORY: "none", SELVEDGE_API_RATE_LIMIT_REQUESTS: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const killWithUs = (): void => void child.kill("SIGKILL");
  process.once("exit", killWithUs);
  let told = "";
  child.stderr?.setEncoding("utf8").on("data", (part: string) => (told = (told + part).slice(-LOG_CHARACTERS_MAX)));
  const ready = await readyLine(child).catch((error: unknown): never => {
    throw new Error(`${(error as Error).message}\n${told}`);
  });
  return {
    ready,
    stop: async () => {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      process.off("exit", killWithUs);
    },
  };
}

function readyLine(child: ChildProcess): Promise<ReadyLine> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadyLine>();
  const limit = setTimeout(() => reject(new Error("the server is not ready in time")), START_LIMIT_MS);
  child.once("exit", (code) => reject(new Error(`the server ended with ${code} before it was ready`)));
  createInterface({ input: child.stdout! }).on("line", (line) => {
    if (!line.startsWith("{")) return;
    const told = JSON.parse(line) as Partial<ReadyLine>;
    if (told.api !== undefined) resolve(told as ReadyLine);
  });
  return promise.finally(() => clearTimeout(limit));
}

export interface Answer {
  readonly status: number;
  readonly body: any;
}

/** One call of the management API. */
export async function callApi(url: string, method: string, headers: Readonly<Record<string, string>>, body?: unknown): Promise<Answer> {
  const res = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    signal: AbortSignal.timeout(CALL_LIMIT_MS),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: res.status, body: await res.json() };
}

export interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: number;
  readonly text: string;
}

/** A visit of a page at the edge, with any host name. */
export const visitPage = (base: string, path: string, headers: Readonly<Record<string, string>>): Promise<Page> =>
  new Promise((resolve, reject) => {
    const req = request(base + path, { headers, agent: false }, (res) => {
      const parts: Buffer[] = [];
      res.on("data", (part: Buffer) => parts.push(part));
      res.on("end", () => {
        const all = Buffer.concat(parts);
        resolve({ status: res.statusCode ?? 0, headers: res.headers, bytes: all.length, text: all.toString() });
      });
    });
    req.setTimeout(CALL_LIMIT_MS, () => req.destroy(new Error("no answer in time")));
    req.on("error", reject);
    req.end();
  });

/** Sends bytes as they are, and returns the first bytes of the answer. */
export const exchange = (base: string, bytes: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ""), () => socket.write(bytes));
    socket.setTimeout(CALL_LIMIT_MS, () => socket.destroy(new Error("no answer in time")));
    socket.once("data", (data) => {
      resolve(data);
      socket.destroy();
    });
    socket.once("error", reject);
    socket.once("close", () => resolve(Buffer.alloc(0)));
  });
