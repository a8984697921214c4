import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { inCi } from "../../tools/system-tools.ts";
import { toolOrSkip } from "./tools.ts";

const run = promisify(execFile);
const COMMAND_LIMIT_MS = 180_000;

/** A separate machine as far as its network is concerned. */
export interface Host {
  readonly name: string;
  /** Standard output of a program in the namespace; rejects if it fails or takes too long. */
  run(program: string, ...args: string[]): Promise<string>;
  /** A process of Node.js in the namespace, with pipes for its output. */
  spawn(args: readonly string[], env?: Readonly<Record<string, string>>): ChildProcessWithoutNullStreams;
  /** Starts one of our programs in the namespace, whose first line of output is JSON; it ends with the test, or on request. */
  start(t: TestContext, script: URL, args: object): Promise<Program>;
}

export interface Program {
  /** Content of its first line. */
  readonly ready: any;
  /** Ends its standard input, whereupon its last line is JSON too. */
  finish(): Promise<any>;
}

/**
 * Hosts by these names, each with its interfaces' addresses, or why there can be none here: in CI that is a failure. A
 * cable has two ends, each an interface of a host.
 */
export async function layNetwork<Name extends string>(
  t: TestContext,
  names: readonly Name[],
  cables: readonly (readonly [End<Name>, End<Name>])[],
): Promise<{ readonly skip: string } | Readonly<Record<Name, Host>>> {
  const reason = toolOrSkip("ip");
  if (reason) return { skip: reason };
  const prefix = `selv${process.pid}`;
  const namespace = (name: Name): string => `${prefix}-${name}`;
  t.after(() => Promise.all(names.map((name) => run("ip", ["netns", "delete", namespace(name)]).catch(() => {}))));
  try {
    for (const name of names) await run("ip", ["netns", "add", namespace(name)], { timeout: COMMAND_LIMIT_MS });
  } catch (error) {
    const why = `no network namespaces can be made here: ${(error as { stderr?: string }).stderr || String(error)}`;
    if (inCi()) throw new Error(why, { cause: error });
    return { skip: why };
  }
  const hosts = Object.fromEntries(names.map((name) => [name, hostIn(namespace(name))])) as Record<Name, Host>;
  for (const name of names) await hosts[name].run("ip", "link", "set", "lo", "up");
  for (const [i, [left, right]] of cables.entries()) {
    const [a, b] = [left, right].map(({ host }) => ["name", `c${i}`, "netns", namespace(host)]) as [string[], string[]];
    // Created in the first host's namespace, so that no interface of the machine is ever changed.
    await hosts[left.host].run("ip", "link", "add", ...a.slice(0, 2), "type", "veth", "peer", ...b);
    for (const { host, addresses } of [left, right]) {
      for (const address of addresses) await hosts[host].run("ip", "address", "add", address, "dev", `c${i}`);
      await hosts[host].run("ip", "link", "set", `c${i}`, "up");
    }
  }
  return hosts;
}

export interface End<Name extends string> {
  readonly host: Name;
  /** With their prefix length. */
  readonly addresses: readonly string[];
}

function hostIn(namespace: string): Host {
  const within = (program: string, args: readonly string[]): [string, string[]] => ["ip", ["netns", "exec", namespace, program, ...args]];
  return {
    name: namespace,
    run: async (program, ...args) => (await run(...within(program, args), { timeout: COMMAND_LIMIT_MS })).stdout,
    spawn: (args, env) => spawn(...within(process.execPath, args), { env: { ...process.env, ...env } }),
    start: async (t, script, args) => {
      const child = spawn(...within(process.execPath, [script.pathname, JSON.stringify(args)]));
      t.after(() => child.kill("SIGKILL"));
      return programOf(child);
    },
  };
}

async function programOf(child: ChildProcessWithoutNullStreams): Promise<Program> {
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, "exit");
  const nextLine = async (): Promise<any> => {
    const limit = setTimeout(() => child.kill("SIGKILL"), COMMAND_LIMIT_MS);
    const { value } = await lines.next();
    clearTimeout(limit);
    if (value === undefined) {
      const [code, signal] = await exited;
      assert.fail(`the program ended with ${code ?? signal}: ${errors}`);
    }
    return JSON.parse(value as string);
  };
  return {
    ready: await nextLine(),
    finish: () => {
      child.stdin.end();
      return nextLine();
    },
  };
}
