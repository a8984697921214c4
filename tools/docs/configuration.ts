import { CONFIG_PARTS } from "#app/config/config-parts.ts";
import { CONFIG_ROWS, type ConfigKeyName, flagName, shownDefault, variableName } from "#app/config/config-schema.ts";
import { code, type Page, page, table } from "./page.ts";

const HEAD = ["Key", "Type", "Default", "Flag", "Environment variable", "SIGHUP", "What it does"];
const ORDER =
  "Flags override environment variables, environment variables override the file given by `--config FILE` (TOML), and the file overrides the defaults. The column SIGHUP shows which keys of the file the running server reloads on that signal. Other keys take effect at the next start.";

export function configurationPages(): readonly Page[] {
  const parts = Array.from(CONFIG_PARTS, ([title, keys]) => `## ${title}\n\n${table(HEAD, keys.map(cells))}`);
  return [page("docs/reference/configuration.md", "Configuration", "src/app/config/config-schema.ts", ORDER, ...parts)];
}

function cells(key: ConfigKeyName): string[] {
  const row = CONFIG_ROWS.get(key);
  if (row === undefined) throw new Error(`no such key: ${key}`);
  const shown = shownDefault(row.default);
  const bounds = [row.min, row.max].some((bound) => bound !== undefined) ? `, ${row.min ?? 0} to ${row.max ?? "any"}` : "";
  return [
    code(key),
    `${row.type}${bounds}`,
    code(shown),
    code(`--${flagName(key)}`),
    code(variableName(key)),
    row.reload ? "yes" : "",
    row.formerly === undefined ? row.doc : `${row.doc} Former name: ${code(row.formerly)}.`,
  ];
}
