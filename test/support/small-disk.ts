import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** A small separate file system, or the reason why it cannot be made. */
export function smallDisk(t: TestContext, megabytes = 8): string | { readonly skip: string } {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-disk-"));
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", directory], { encoding: "utf8" });
  if (status !== 0) {
    rmSync(directory, { recursive: true });
    return { skip: `no small file system can be mounted here: ${stderr ?? "no mount"}` };
  }
  t.after(() => {
    spawnSync("umount", ["-l", directory]);
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

/** Fills the free space to the last byte. */
export function fillDisk(file: string): void {
  for (let size = 1 << 20; size >= 1; size = size === 1 ? 0 : size >> 1) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size));
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
    }
  }
}
