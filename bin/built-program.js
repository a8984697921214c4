import { hash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * What the build (tools/build.ts) says of its sources, in dist/built.json.
 *
 * @typedef {object} Built
 * @property {Readonly<Record<string, string>>} stamps by path below the root: when each file was changed, and its length
 * @property {string} hash of the contents of all of them
 */

/**
 * When a file was last changed, and its length; undefined where there is none. A tool that copies files sets the first date as it
 * likes, but not the second.
 *
 * @param {string} path
 */
export function stampOf(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.mtimeMs} ${stat.ctimeMs} ${stat.size}`;
}

/**
 * Of the names and contents of the files. Throws where one is missing.
 *
 * @param {string} root
 * @param {readonly string[]} files
 */
export function hashOf(root, files) {
  return hash("sha256", files.map((file) => `${file} ${hash("sha256", readFileSync(join(root, file)))}`).join("\n"));
}

/**
 * Whether the built program is what the sources are. An installed package has no sources. Of a copy the stamps differ, so that
 * contents have the last word.
 *
 * @param {string} root
 */
export function isCurrent(root) {
  if (!existsSync(join(root, "src"))) return true;
  try {
    const built = /** @type {Built} */ (JSON.parse(readFileSync(join(root, "dist/built.json"), "utf8")));
    const files = Object.keys(built.stamps);
    if (files.length === 0) return false;
    return files.every((file) => stampOf(join(root, file)) === built.stamps[file]) || hashOf(root, files) === built.hash;
  } catch {
    // There is no build, or a file is missing that it was made from.
    return false;
  }
}
