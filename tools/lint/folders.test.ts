import assert from "node:assert/strict";
import { globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../steps.ts";
import { FILES_MAX, FOLDERS, LINES_MAX, LONG_FILES_MAX, MAY_BE_LARGER } from "./folders.ts";

const folders = (path: string): readonly string[] =>
  readdirSync(join(ROOT, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => [`${path}/${name}`, ...folders(`${path}/${name}`)]);

test("no folder has more files than the limit", () => {
  const large = [...folders("src"), ...folders("dashboard/src")].flatMap((path) => {
    const files = readdirSync(join(ROOT, path)).filter((name) => /\.(?:tsx?|css)$/.test(name) && !name.endsWith(".test.ts"));
    return files.length > FILES_MAX && !MAY_BE_LARGER.has(path) ? [`${path}: ${files.length}`] : [];
  });
  assert.deepEqual(large, []);
});

test("the number of long files only falls", () => {
  const files = globSync("src/**/*.ts", { cwd: ROOT }).filter((path) => !path.endsWith(".test.ts") && !path.includes("/testing/"));
  const long = files.flatMap((path) => {
    const lines = readFileSync(join(ROOT, path), "utf8").split("\n").length - 1;
    return lines > LINES_MAX ? [`${lines} ${path}`] : [];
  });
  const list = long.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).join("\n");
  assert.ok(
    long.length <= LONG_FILES_MAX,
    `${long.length} files of src/ have more than ${LINES_MAX} lines, at most ${LONG_FILES_MAX} may: split one at the wall between two subjects\n${list}`,
  );
});

test("each folder with subfolders has an order", () => {
  const parents = folders("src").filter((path) => folders(path).some((below) => !below.endsWith("/testing")));
  assert.deepEqual(
    parents.map((path) => path.slice("src/".length)).filter((path) => FOLDERS[path] === undefined),
    [],
  );
});

test("the order of folders lists each folder, and only existing ones", () => {
  for (const [parent, order] of Object.entries(FOLDERS)) {
    const at = join(ROOT, "src", parent);
    const there = readdirSync(at).filter((name) => name !== "testing" && statSync(join(at, name)).isDirectory());
    const named = order.filter((name) => name !== "." && !name.endsWith(".ts"));
    assert.deepEqual([...named].sort(), there.sort(), parent);
    for (const name of order.filter((one) => one.endsWith(".ts"))) assert.ok(statSync(join(at, name)).isFile(), `${parent}/${name}`);
  }
});
