import type { Command } from "commander";
import { CONFIG_PARTS } from "#app/config/config-parts.ts";
import { CONFIG_ROWS, type ConfigKeyName, flagName, shownDefault, variableName } from "#app/config/config-schema.ts";

/** A switch has a value only after `=`. */
const SWITCH = "[yes]";

/**
 * Adds configuration keys to the command as flags: all of them, by subject, unless `keys` selects some; the returned list
 * fills with the used ones, in order.
 */
export function addConfigFlags(command: Command, keys?: readonly ConfigKeyName[]): readonly string[] {
  const used: string[] = [];
  const switches = new Set<string>();
  const add = (flag: string, form: string, doc: string): void => {
    const option = command.createOption(`--${flag} ${form}`, doc);
    command.addOption(option);
    if (form === SWITCH) {
      option.flags = `--${flag}`;
      switches.add(option.flags);
    }
    command.on(`option:${flag}`, (value: string | null) => used.push(value === null ? `--${flag}` : `--${flag}=${value}`));
  };
  const addKey = (key: ConfigKeyName): void => {
    const row = CONFIG_ROWS.get(key);
    if (row === undefined) return;
    const fallback = shownDefault(row.default);
    const about = fallback === "" || fallback === "false" ? row.doc : `${row.doc} (default: ${fallback})`;
    add(flagName(key), row.type === "switch" ? SWITCH : "<value>", about);
  };
  keepNextWords(command, switches);
  const example = keys?.find((key) => key.includes(".")) ?? keys?.[0] ?? "database.url";
  command.optionsGroup(
    `Configuration (also as environment variables: --${flagName(example)} is ${variableName(example)}; a switch is turned off with =no):`,
  );
  add("config", "<file>", "TOML file with any configuration keys (also SELVEDGE_CONFIG).");
  if (keys !== undefined) keys.forEach(addKey);
  else
    for (const [title, part] of CONFIG_PARTS) {
      command.optionsGroup(`${title}:`);
      part.forEach(addKey);
    }
  return used;
}

/** The parser would take the word after a switch as its value. */
function keepNextWords(command: Command, switches: ReadonlySet<string>): void {
  const parse = command.parseOptions.bind(command);
  command.parseOptions = (args) => {
    const end = args.includes("--") ? args.indexOf("--") : args.length;
    return parse(args.map((word, index) => (index < end && switches.has(word) ? `${word}=true` : word)));
  };
}
