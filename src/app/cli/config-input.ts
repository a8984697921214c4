import { readFileSync } from "node:fs";
import type { ConfigInput } from "#app/config/config.ts";

/** The configuration's sources in this process. */
export const configInput = (argv: readonly string[]): ConfigInput => ({
  argv,
  env: process.env,
  readFile: (path) => readFileSync(path, "utf8"),
});
