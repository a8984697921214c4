import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readRegularFile } from "./regular-file.ts";

test("a regular file is read, also through a link, and a pipe, a device, a directory and a large file are refused at once", (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-regular-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const [file, link, pipe, folder] = ["file", "link", "pipe", "folder"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
    string,
  ];
  writeFileSync(file, "text");
  symlinkSync(file, link);
  execFileSync("mkfifo", [pipe]);
  mkdirSync(folder);
  for (const path of [file, link]) assert.equal(readRegularFile(path, 4).toString(), "text");
  assert.equal(readRegularFile("/dev/null").length, 0);
  for (const path of [pipe, "/dev/zero", folder]) assert.throws(() => readRegularFile(path, 4), /not a regular file/, path);
  assert.throws(() => readRegularFile(file, 3), /4 bytes, more than 3/);
  assert.throws(() => readRegularFile(join(directory, "none"), 3), /ENOENT/);
});
