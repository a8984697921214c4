import { AS_BEFORE, type PackedRows, type PackedTexts } from "./packed-rows.ts";
import { EVENT_SCHEMA, facetColumns, storedColumns } from "./schema.ts";

/** Hides what must not be kept of texts, in the parts between separators (rules/detectors/text-masker.ts). */
export type MaskTexts = (texts: readonly string[], separator: string) => readonly string[];

/** What visitors write and rows keep, and what separates its parts. */
const SEPARATORS: Readonly<Record<string, string>> = { path: "/", query: "&", user_agent: "" };
const TABLES: ReadonlySet<string> = new Set(["requests", "security_events"]);

/** The rows with texts of visitors masked; the same ones where nothing was found. */
export function maskRows(packed: PackedRows, mask: MaskTexts): PackedRows {
  if (!TABLES.has(packed.table)) return packed;
  const texts = packed.texts.map((column, index) => {
    const separator = SEPARATORS[textColumns(packed)[index] ?? ""];
    return separator === undefined ? column : maskColumn(column, separator, mask);
  });
  const facets = packed.facets.map((facet, index) => {
    const [name] = EVENT_SCHEMA[packed.table].facets[index] === "agent" ? facetColumns("agent") : [];
    return name === undefined ? facet : { ...facet, texts: mask(facet.texts, SEPARATORS[name] ?? "") };
  });
  return { ...packed, texts, facets };
}

/** Whether a text is so long that something could be found in it. */
export const hasTexts = (packed: PackedRows, charsMin: number): boolean =>
  TABLES.has(packed.table) &&
  packed.texts.some(
    ({ lengths }, index) =>
      SEPARATORS[textColumns(packed)[index] ?? ""] !== undefined && lengths.some((length) => length !== AS_BEFORE && length >= charsMin),
  );

const textColumns = ({ table }: PackedRows): readonly string[] =>
  storedColumns(table).flatMap((column) => (column.facet === null && column.sql === "TEXT" ? [column.name] : []));

function maskColumn(column: PackedTexts, separator: string, mask: MaskTexts): PackedTexts {
  const values: string[] = [];
  let at = 0;
  for (const length of column.lengths) if (length !== AS_BEFORE) values.push(column.text.slice(at, (at += length)));
  const masked = mask(values, separator);
  if (masked === values) return column;
  let next = 0;
  const lengths = column.lengths.map((length) => (length === AS_BEFORE ? AS_BEFORE : (masked[next++]?.length ?? 0)));
  return { text: masked.join(""), lengths };
}
