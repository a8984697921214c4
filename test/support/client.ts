import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";

const CLIENT_TIMEOUT_MS = 180_000;

/** Runs a third-party client to its end and returns its output. Throws with all of it unless it exits with 0. */
export async function runClient(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: CLIENT_TIMEOUT_MS,
    env: { PATH: process.env["PATH"], ...env },
  });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (chunk: string) => void (output[stream] += chunk));
  const [code, signal] = await once(child, "close");
  assert.equal(code ?? signal, 0, `${program} ended with ${code ?? signal}\n${output.stdout}${output.stderr}`);
  return output.stdout;
}
