import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The folder of the dashboard's built files, in the package. A build has a `package.json` in `dist/`, one folder below the package's
 * own. Undefined if the package has no dashboard.
 */
export function dashboardFolder(program: string = dirname(fileURLToPath(import.meta.resolve("#package.json")))): string | undefined {
  return [program, dirname(program)]
    .map((folder) => join(folder, "dashboard", "dist"))
    .find((folder) => existsSync(join(folder, "index.html")));
}
