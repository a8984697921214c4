import type { Command } from "commander";
import { CONFIG_ROWS, flagName } from "../config-schema.ts";

/** Gives the command every configuration key as a flag; the returned list fills with the ones that are used, in order. */
export function addConfigFlags(command: Command): readonly string[] {
  const used: string[] = [];
  const add = (flag: string, form: string, doc: string): void => {
    command.option(`--${flag} ${form}`, doc);
    command.on(`option:${flag}`, (value: string | null) => used.push(value === null ? `--${flag}` : `--${flag}=${value}`));
  };
  command.optionsGroup("Configuration (each also as a variable: --api-port is SELVEDGE_API_PORT):");
  add("config", "<file>", "TOML file with any of these keys (also SELVEDGE_CONFIG).");
  for (const [key, row] of CONFIG_ROWS) {
    const hasDefault = row.default !== "" && row.default !== false && typeof row.default !== "object";
    add(flagName(key), row.type === "switch" ? "[yes]" : "<value>", hasDefault ? `${row.doc} (default: ${String(row.default)})` : row.doc);
  }
  return used;
}
