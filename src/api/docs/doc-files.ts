import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** One document: its address below `/docs`, without the ending, its title and its Markdown. */
export interface Doc {
  /** `/guides/cache`, `/reference/api` for the README of a folder. */
  readonly path: string;
  /** The folder that its links are relative to. */
  readonly folder: string;
  readonly title: string;
  readonly markdown: string;
}

/**
 * The published part of the package's `docs/` folder, in the order of the first page. Decisions and status are for
 * developers.
 */
export const SECTIONS = [
  { title: "Guides", folder: "guides" },
  { title: "API", folder: "reference/api" },
  { title: "Reference", folder: "reference" },
  { title: "Differences from the vendor", folder: "divergences" },
  { title: "Error codes", folder: "errors" },
] as const;

/** Reads all documents of the folder. A missing folder has none. */
export async function readDocs(root: string): Promise<ReadonlyMap<string, Doc>> {
  const docs = new Map<string, Doc>();
  for (const { folder } of SECTIONS) {
    const names = await readdir(join(root, folder)).catch(() => []);
    for (const name of names.filter((file) => file.endsWith(".md")).toSorted(byNumberThenName)) {
      const markdown = await readFile(join(root, folder, name), "utf8");
      const path = name === "README.md" ? `/${folder}` : `/${folder}/${name.slice(0, -".md".length)}`;
      docs.set(path, { path, folder: `/${folder}`, title: titleOf(markdown) ?? path, markdown });
    }
  }
  return docs;
}

/** Error codes are numbers: 1061 comes before 10000. */
const byNumberThenName = (a: string, b: string): number => Number.parseInt(a) - Number.parseInt(b) || (a < b ? -1 : 1);

const titleOf = (markdown: string): string | undefined =>
  markdown
    .split("\n")
    .find((line) => line.startsWith("# "))
    ?.slice("# ".length)
    .replaceAll("`", "");
