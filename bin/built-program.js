import { hash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * What the build (tools/build.ts) was made from, in dist/built.json: by path below the root, when the file was changed and its
 * length, and the hash of its content.
 *
 * @typedef {Readonly<Record<string, readonly [stamp: string, hash: string]>>} Built
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

/** @param {string} path */
export const contentHash = (path) => hash("sha256", readFileSync(path));

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
    const files = Object.entries(built);
    return (
      files.length > 0 &&
      files.every(([file, [stamp, content]]) => stampOf(join(root, file)) === stamp || contentHash(join(root, file)) === content)
    );
  } catch {
    // There is no build, or a file is missing that it was made from.
    return false;
  }
}
