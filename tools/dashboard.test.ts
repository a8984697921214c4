import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { actionWords } from "../dashboard/src/pages/account/audit-words.ts";

const root = join(import.meta.dirname, "..");
const built = join(root, "dashboard/dist");
const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "source.sha256")
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted();

test("a build of the dashboard gives the committed bytes", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "selvedge-dashboard-"));
  try {
    const vite = join(root, "node_modules/.bin/vite");
    const { status, stderr } = spawnSync(vite, ["build", "--logLevel", "error", "--emptyOutDir", "--outDir", folder], {
      cwd: join(root, "dashboard"),
      encoding: "utf8",
      env: { ...process.env, PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"] ?? ""}` },
    });
    assert.equal(status, 0, stderr);
    assert.deepEqual(filesOf(folder), filesOf(built));
    for (const file of filesOf(folder)) assert.ok(readFileSync(join(folder, file)).equals(readFileSync(join(built, file))), file);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const SCRIPT_BYTES_MAX = 250_000;

/** A chunk of the build, as Vite's manifest has it. */
interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
}

test("the first load of each page fetches at most 250 kB of script, gzipped", () => {
  const manifest = JSON.parse(readFileSync(join(built, "manifest.json"), "utf8")) as Readonly<Record<string, Chunk>>;
  const withImports = (name: string, seen: Set<string>): Set<string> => {
    const chunk = manifest[name];
    if (!chunk || seen.has(chunk.file)) return seen;
    seen.add(chunk.file);
    for (const imported of chunk.imports ?? []) withImports(imported, seen);
    return seen;
  };
  const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry === true) ?? "";
  const pages = Object.keys(manifest).filter((name) => name.startsWith("src/pages/"));
  assert.ok(pages.length > 5);
  for (const page of pages) {
    const files = [...withImports(page, withImports(entry, new Set()))];
    const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(join(built, file)), { level: 9 }).length, 0);
    assert.ok(bytes <= SCRIPT_BYTES_MAX, `${page} loads ${bytes} bytes`);
  }
});

test("styles.ts loads the style sheet of each UI component in use", () => {
  const sources = join(root, "dashboard/src");
  const loaded = readFileSync(join(sources, "styles.ts"), "utf8");
  const files = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".tsx"));
  const imports = files.flatMap((name) => [
    ...readFileSync(join(sources, name), "utf8").matchAll(/import \{([^}]+)\} from "@mantine\/core"/g),
  ]);
  const parts = new Set(imports.flatMap(([, names = ""]) => names.split(",").map((one) => one.trim())));
  assert.ok(parts.has("Button") && parts.size > 5);
  const sheets = new Set(readdirSync(join(root, "node_modules/@mantine/core/styles")));
  const missing = [...parts].filter((part) => sheets.has(`${part}.css`) && !loaded.includes(`/${part}.css"`));
  assert.deepEqual(missing, []);
});

// Browsers give a promise for a scroll, which React would call as the clean-up of the effect: the page breaks at the next run.
test("no effect returns the value of an expression", () => {
  const sources = join(root, "dashboard/src");
  const files = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  const open = files.filter((name) => /Effect\(\s*\(\) =>(?!\s*(?:\{|void\b))/.test(readFileSync(join(sources, name), "utf8")));
  assert.deepEqual(open, []);
});

test("the page of the audit log says actions in words, and an action that it does not know by its name", () => {
  const said = ["zone.create", "zone_hold.edit", "dns_record.create", "gateway_route.update", "gateway.delete", "zone.settings.edit"];
  assert.deepEqual(said.map(actionWords), [
    "added a zone",
    "changed the hold of a zone",
    "created a DNS record",
    "changed a route of a gateway",
    "deleted a gateway",
    "changed settings of a site",
  ]);
  for (const raw of ["later.create", "zone.later", "dns_record", "constructor.constructor", ""]) assert.equal(actionWords(raw), raw);
});
