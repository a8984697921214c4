import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folders of the package that the API serves; undefined if the package lacks one. */
export interface PackageFolders {
  /** The dashboard's built files. */
  readonly dashboard: string | undefined;
  /** The documentation in Markdown. */
  readonly docs: string | undefined;
}

/** Finds them. A build has a `package.json` in `dist/`, one folder below the package's own. */
export function packageFolders(program: string = dirname(fileURLToPath(import.meta.resolve("#package.json")))): PackageFolders {
  const find = (folder: string, file: string): string | undefined =>
    [program, dirname(program)].map((parent) => join(parent, folder)).find((path) => existsSync(join(path, file)));
  return { dashboard: find("dashboard/dist", "index.html"), docs: find("docs", "guides/README.md") };
}
