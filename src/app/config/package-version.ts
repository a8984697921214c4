import { readFileSync } from "node:fs";

/** Of this program, by SemVer. */
export function packageVersion(): string {
  const text = readFileSync(new URL(import.meta.resolve("#package.json")), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
