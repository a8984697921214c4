import { readFileSync } from "node:fs";

let version: string | undefined;

/** Of this program, by SemVer. */
export function packageVersion(): string {
  version ??= (JSON.parse(readFileSync(new URL(import.meta.resolve("#package.json")), "utf8")) as { readonly version: string }).version;
  return version;
}
