import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Distinguishes the files of this directory from those of an earlier one, whose numbers started again. On disk when it returns. */
export function epochOf(directory: string): string {
  const path = join(directory, "epoch");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  try {
    const known = readFileSync(path, "utf8");
    if (known !== "") return known;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const epoch = randomBytes(12).toString("hex");
  const file = openSync(`${path}.new`, "w", 0o600);
  writeSync(file, epoch);
  fsyncSync(file);
  closeSync(file);
  renameSync(`${path}.new`, path);
  return epoch;
}
