import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closedInTheEnd } from "#kernel/testing/left-open.ts";
import { findTool } from "../../tools/system-tools.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "../bench/program.ts";

/** A real nats-server with JetStream, in a temporary directory. */
export interface NatsServer {
  readonly url: string;
  readonly directory: string;
  /** Of the running process. */
  pid(): number;
  start(): Promise<void>;
  /** SIGKILL; resolves when the process has ended. */
  kill(): Promise<void>;
  /** Deletes the files of JetStream and the resolver. */
  wipe(): void;
  /** Kills it and deletes the directory. */
  stop(): Promise<void>;
}

/** `configure`: lines of its configuration, from the directory for its state. */
export async function startNats(
  configure = (directory: string) => `jetstream { store_dir: "${directory}/jetstream" }`,
): Promise<NatsServer> {
  const program = findTool("nats-server");
  if (program === undefined) throw new Error("nats-server is not installed: apt-get install nats-server");
  const directory = mkdtempSync(join(tmpdir(), "selvedge-nats-"));
  const state = join(directory, "state");
  const port = await freePort();
  const file = join(directory, "nats.conf");
  writeFileSync(file, `host: 127.0.0.1\nport: ${port}\n${configure(state)}\n`);
  let child: ChildProcess | null = null;
  let forget = (): void => undefined;
  const server: NatsServer = {
    url: `nats://127.0.0.1:${port}`,
    directory,
    pid: () => {
      if (child?.pid === undefined) throw new Error("nats-server does not run");
      return child.pid;
    },
    start: async () => {
      const started = spawn(program, ["-c", file, "-l", join(directory, "nats.log")], { stdio: "ignore" });
      child = started;
      forget = closedInTheEnd(() => started.kill("SIGKILL"));
      await eventually(() => listens(port));
    },
    kill: async () => {
      if (child === null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
      forget();
      child = null;
    },
    wipe: () => rmSync(state, { recursive: true, force: true }),
    stop: async () => {
      await server.kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

const listens = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect({ port, host: "127.0.0.1" }, () => {
      socket.destroy();
      done(true);
    });
    socket.on("error", () => done(false));
  });
