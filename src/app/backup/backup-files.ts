import { readFileSync } from "node:fs";

const SQLITE = "sqlite:";

/** The control database as a file; null if it is on a server. */
export const controlPathOf = (databaseUrl: string): string | null =>
  databaseUrl.startsWith(SQLITE) ? databaseUrl.slice(SQLITE.length) : null;

const readText = (path: string): string => readFileSync(path, "utf8");

/** The passphrase in a file, whose last line end is not a part of it. Throws an Error for the operator. */
export function readPassphrase(path: string, read = readText): string {
  let text: string;
  try {
    text = read(path);
  } catch (error) {
    throw new Error(`cannot read the passphrase in ${path}: ${(error as Error).message}`, { cause: error });
  }
  const passphrase = text.replace(/\r?\n$/, "");
  if (passphrase.length < PASSPHRASE_LENGTH_MIN)
    throw new Error(`the passphrase in ${path} has fewer than ${PASSPHRASE_LENGTH_MIN} characters: choose a longer one`);
  return passphrase;
}

const PASSPHRASE_LENGTH_MIN = 12;
