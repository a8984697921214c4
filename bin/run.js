import { mkdirSync, statSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

/** Runs the command line and leaves its exit code to the process. */
export async function run(args) {
  useCompileCache();
  const { main } = await import("#app/cli/main.ts");
  process.exitCode = await main(args);
}

/** Compiled code is kept between starts; a directory that others could write would let them run code as us. */
function useCompileCache() {
  if (process.env.NODE_COMPILE_CACHE || process.env.NODE_DISABLE_COMPILE_CACHE) return;
  const directory = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "selvedge", "compiled");
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(directory);
    if (uid !== process.getuid() || (mode & 0o022) !== 0) return;
  } catch {
    // Without a home that can be written, every start compiles.
    return;
  }
  enableCompileCache(directory);
  // Worker threads take it from the environment.
  process.env.NODE_COMPILE_CACHE = directory;
}
