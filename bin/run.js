import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isCurrent } from "./built-program.js";

const root = dirname(import.meta.dirname);
const BUILD_MS_MAX = 120_000;

/**
 * Runs the command line and leaves its exit code to the process.
 *
 * @param {readonly string[]} args
 */
export async function run(args) {
  // No flag before a command has a value.
  const { main } = await import(programFor(args.find((arg) => !arg.startsWith("-"))));
  process.exitCode = await main(args);
}

/**
 * The built program where it is what the sources are. A server is worth building it for; every other command, and a server where
 * nothing can be built, runs the sources (docs/adr/0090). The server has a program for itself (docs/adr/0363).
 *
 * @param {string | undefined} command
 */
function programFor(command) {
  const isServer = command === "start";
  if (isCurrent(root) || (isServer && build() && isCurrent(root))) return `../dist/app/cli/${isServer ? "server" : "main"}.js`;
  return "../src/app/cli/main.ts";
}

function build() {
  const builder = join(root, "tools/build.ts");
  if (!existsSync(builder)) return false;
  console.error("selvedge: building the program, because its sources have changed");
  // Standard output is the server's.
  const { status } = spawnSync(process.execPath, [builder], { stdio: ["ignore", "ignore", "inherit"], timeout: BUILD_MS_MAX });
  return status === 0;
}
