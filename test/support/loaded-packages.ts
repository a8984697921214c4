import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { isMainThread, threadName } from "node:worker_threads";

/** With `--import`: writes the path of each module of a package or of the build that a thread loads to a file with the thread's name. */
const folder = process.env["LOADED_PACKAGES_FOLDER"] ?? "";
const file = join(folder, isMainThread ? "main" : (threadName ?? "unnamed"));
registerHooks({
  load: (url, context, next) => {
    const [, path] = /\/(?:node_modules\/|(?=dist\/))(.+)$/.exec(url) ?? [];
    if (path !== undefined) appendFileSync(file, `${path}\n`);
    return next(url, context);
  },
});
