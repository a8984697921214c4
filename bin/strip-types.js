import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { deserialize, serialize } from "node:v8";

/** When a file was last changed, and its length; undefined where there is none. npm gives all files of a package one date, so not by that alone. */
export function stampOf(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.mtimeMs} ${stat.ctimeMs} ${stat.size}`;
}

/** Node.js says once a process that its function is new; ours is tested with the version that is used. */
export function stripped(source) {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Texts without types by address, as an earlier run has left them; none where the file is another version's, or broken. */
export function readTexts(file) {
  try {
    const [version, texts] = deserialize(readFileSync(file));
    if (version === process.version && texts instanceof Map) return texts;
  } catch {
    // There was no run yet.
  }
  return new Map();
}

/** Strips what has changed below the folder, and leaves it all in the file. */
function stripAll(folder, file) {
  const before = readTexts(file);
  const texts = new Map();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".ts") || entry.name.endsWith(".test.ts")) continue;
    const path = join(entry.parentPath, entry.name);
    const url = pathToFileURL(path).href;
    // Before it is read: what changes in between is read again by the next start.
    const stamp = stampOf(path);
    const known = before.get(url);
    texts.set(url, known?.stamp === stamp ? known : { stamp, source: stripped(readFileSync(path, "utf8")) });
  }
  const whole = `${file}.${process.pid}`;
  writeFileSync(whole, serialize([process.version, texts]), { mode: 0o600 });
  renameSync(whole, file);
}

// As a process of its own: what the compiler takes goes with it (kept-program.js).
if (import.meta.main) stripAll(process.argv[2], process.argv[3]);
