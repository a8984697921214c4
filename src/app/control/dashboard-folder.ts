import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where the dashboard's built files are: beside the `src/` or the `dist/` that runs. A folder that is not there serves nothing. */
export function dashboardFolder(start: string = dirname(fileURLToPath(import.meta.resolve("#package.json")))): string {
  for (let folder = start; ; folder = dirname(folder)) {
    const built = join(folder, "dashboard", "dist");
    if (folder === dirname(folder) || existsSync(join(built, "index.html"))) return built;
  }
}
