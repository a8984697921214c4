import { CONFIG_ROWS, flagName, variableName } from "#app/config-schema.ts";
import { code, type Page, page, table } from "./page.ts";

export function configurationPages(): readonly Page[] {
  const rows = [...CONFIG_ROWS].map(([key, row]) => {
    const shown = typeof row.default === "object" ? "" : String(row.default);
    const bounds = [row.min, row.max].some((bound) => bound !== undefined) ? `, ${row.min ?? 0} to ${row.max ?? "any"}` : "";
    return [code(key), `${row.type}${bounds}`, code(shown), code(`--${flagName(key)}`), code(variableName(key)), row.doc];
  });
  const order =
    "A flag goes before an environment variable, a variable before the file given by `--config FILE` (TOML), the file before the default.";
  const head = ["Key", "Type", "Default", "Flag", "Environment variable", "What it does"];
  return [page("docs/reference/configuration.md", "Configuration", "src/app/config-schema.ts", order, table(head, rows))];
}
