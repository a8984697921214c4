import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { apiPages } from "./docs/api.ts";
import { configurationPages } from "./docs/configuration.ts";
import { deprecationPages } from "./docs/deprecations.ts";
import { errorPages } from "./docs/errors.ts";
import { expressionPages } from "./docs/expressions.ts";
import { specMapPage } from "./docs/spec-map.ts";
import { ROOT } from "./steps.ts";

/** Everything in these folders is generated; a file without a table is deleted. */
const FOLDERS = ["docs/errors", "docs/reference", "docs/reference/api"] as const;

const wanted = new Map(
  [...errorPages(), ...configurationPages(), ...apiPages(), ...deprecationPages(), ...expressionPages(), specMapPage()].map(
    ({ path, text }) => [path, text],
  ),
);
const present = (await Promise.all(FOLDERS.map(listFiles))).flat();

const surplus = present.filter((path) => !wanted.has(path));
const stale: string[] = [];
for (const [path, text] of wanted) {
  if ((await readFile(join(ROOT, path), "utf8").catch(() => "")) !== text) stale.push(path);
}

if (!process.argv.includes("--check")) {
  for (const path of surplus) await rm(join(ROOT, path));
  for (const path of stale) {
    await mkdir(dirname(join(ROOT, path)), { recursive: true });
    await writeFile(join(ROOT, path), wanted.get(path) ?? "");
  }
} else if (stale.length + surplus.length > 0) {
  console.error(`not current, run \`npm run docs\`:\n${[...stale, ...surplus].join("\n")}`);
  process.exitCode = 1;
}

async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(ROOT, folder), { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => `${folder}/${name}`);
}
