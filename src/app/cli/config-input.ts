import type { ConfigInput } from "#app/config/config.ts";
import { readRegularFile } from "#kernel/process/regular-file.ts";

/** The configuration's sources in this process. */
export const configInput = (argv: readonly string[]): ConfigInput => ({
  argv,
  env: process.env,
  readFile: (path) => readRegularFile(path).toString(),
});
