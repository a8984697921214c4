import { spawn } from "node:child_process";
import { once } from "node:events";

/** The attacks of `slowhttptest`, which occupy a server's connections: slow heads, bodies and readers, and overlapping ranges. */
export const SLOW_ATTACKS = {
  heads: ["-H"],
  bodies: ["-B"],
  readers: ["-X", "-w", "512", "-y", "1024", "-n", "1", "-z", "32", "-k", "3"],
  ranges: ["-R"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type SlowAttack = keyof typeof SLOW_ATTACKS;

export interface AttackReport {
  /** Whether its own probe of the server was answered throughout. */
  readonly isAvailable: boolean;
  /** All its connections were closed by the server before its time was over. */
  readonly isEmpty: boolean;
  readonly output: string;
}

/** Attacks the site through the port of this machine for so many seconds, with so many connections; `through` runs the program, as `nice` does. */
export async function attackSlowly(
  attack: SlowAttack,
  host: string,
  port: number,
  connections: number,
  seconds: number,
  through: readonly string[] = [],
): Promise<AttackReport> {
  const rate = String(Math.max(50, connections));
  const args = ["-c", String(connections), "-r", rate, "-i", "1", "-l", String(seconds), "-p", "5"];
  // Connects as through a proxy that clients choose, so that it sends the host whatever this machine's resolver knows.
  const target = ["-d", `127.0.0.1:${port}`, "-u", `http://${host}/`];
  const [command = "", ...rest] = [...through, "slowhttptest", ...SLOW_ATTACKS[attack], ...args, ...target];
  const child = spawn(command, rest, {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: (seconds + 30) * 1000,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => (output += bytes.toString("latin1")));
  await once(child, "close");
  // It prints in colours.
  output = output.replaceAll(/\x1b\[[0-9;]*[A-Za-z]/g, "");
  return {
    isAvailable: !/service available:\s+NO/.test(output),
    isEmpty: output.includes("No open connections left"),
    output: output.slice(-2000),
  };
}
