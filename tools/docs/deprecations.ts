import { LATER_ROWS } from "#deprecations/later-rows.ts";
import { DEPRECATIONS } from "#deprecations/table.ts";
import type { Deprecation } from "#deprecations/deprecation.ts";
import { code, type Page, page, pathTemplate, table } from "./page.ts";

export function deprecationPages(): readonly Page[] {
  const index = (rows: readonly Deprecation[]): string =>
    table(
      ["In force from", "What", "Replacement"],
      rows.map((row) => [row.date, `[${row.id}](#${row.id})`, row.replacement ?? "none"]),
    );
  const later = "These rows are newer than the specification's list. They apply with the setting `deprecations.later_rows` only.";
  const note =
    "A row is in force when the API date of a request is its day or later. Before that, the answers of its routes carry `Deprecation`, `Sunset` and `Link`.";
  return [
    page(
      "docs/reference/deprecations.md",
      "Deprecations",
      "src/deprecations/table.ts",
      note,
      index(DEPRECATIONS),
      later,
      index(LATER_ROWS),
      ...[...LATER_ROWS, ...DEPRECATIONS].map(section),
    ),
  ];
}

const section = (row: Deprecation): string =>
  [
    `<a id="${row.id}"></a>\n\n## ${row.id}, from ${row.date}`,
    `**Before**: ${row.was}${row.hollow === undefined ? "" : ` ${row.hollow}`}`,
    `**Why it goes**: ${row.why}`,
    `**Replacement**: ${row.replacement ?? "none"}`,
    `Source: ${row.spec}. ${row.routes.length === 0 ? "It holds for visitors of the edge, on every API date." : "Routes:"}`,
    ...(row.routes.length === 0 ? [] : [row.routes.map((path) => `- ${code(pathTemplate(path))}`).join("\n")]),
  ].join("\n\n");
