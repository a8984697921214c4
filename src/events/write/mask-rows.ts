import { AS_BEFORE, type PackedRows, type PackedTexts } from "#events/rows/packed-rows.ts";
import { TextPacker } from "#events/rows/column-packers.ts";
import type { LogMasking, Maskings } from "#events/rows/messages.ts";
import { hasLongName, inMatchNames } from "./mask-match-names.ts";
import type { MaskTexts } from "./mask-texts.ts";
import { EVENT_SCHEMA, facetColumns, textColumns } from "#events/rows/schema.ts";

/** `maskings`: settings of zones that differ from the default. */
export type RowMasker = (packed: PackedRows, maskings?: Maskings) => PackedRows;

/** Texts that visitors write and rows keep, with the separator of their parts. */
export const VISITOR_TEXTS = { path: "/", query: "&", user_agent: "" } as const;
const SEPARATORS: Readonly<Record<string, string>> = VISITOR_TEXTS;
const TABLES: ReadonlySet<string> = new Set(["requests", "security_events"]);

/**
 * Returns rows with visitors' texts masked; the same rows without findings. Uses `mask`, and `maskOfAll` for zones that
 * want it. User agents belong to no zone and use `mask` alone.
 */
export function createRowMasker(mask: MaskTexts, maskOfAll: () => MaskTexts = () => mask): RowMasker {
  const maskRepeated = remembering(mask);
  let all: MaskTexts | undefined;
  const masks: Readonly<Record<LogMasking, MaskTexts>> = {
    undoubted: mask,
    all: (texts, separator) => (all ??= maskOfAll())(texts, separator),
    off: (texts) => texts,
  };
  const maskNames = inMatchNames(mask);
  const namesMasks: typeof masks = { undoubted: maskNames, all: (texts) => inMatchNames(masks.all)(texts, ""), off: masks.off };
  const maskMatches = (column: PackedTexts, chosen: readonly LogMasking[] | null): PackedTexts =>
    chosen === null ? maskColumn(column, "", maskNames) : maskByRow(column, "", chosen, namesMasks);
  return (packed, maskings) => {
    if (!TABLES.has(packed.table)) return packed;
    const chosen = maskings === undefined ? null : maskingOfRows(packed, maskings);
    const texts = packed.texts.map((column, index) => {
      if (isMatches(packed, index)) return maskMatches(column, chosen);
      const separator = separatorOf(packed, index);
      if (separator === undefined) return column;
      return chosen === null ? maskColumn(column, separator, mask) : maskByRow(column, separator, chosen, masks);
    });
    const facets = packed.facets.map((facet, index) => {
      if (!isAgent(packed, index)) return facet;
      return { ...facet, texts: shortened(maskRepeated(facet.texts, VISITOR_TEXTS.user_agent)) };
    });
    const { events } = packed;
    if (events === undefined) return { ...packed, texts, facets };
    const chosenOfEvents = chosen && Array.from(events.requests, (row) => chosen[row] ?? "undoubted");
    return { ...packed, texts, facets, events: { ...events, matches: maskMatches(events.matches, chosenOfEvents) } };
  };
}

/** The zones among these that have rows here; null if none has. For sinks, before rows are sent. */
export function maskingsIn(tables: readonly PackedRows[], maskingOf: (zoneId: string) => LogMasking | undefined): Maskings | null {
  const maskings = new Map<string, LogMasking>();
  for (const packed of tables) {
    if (!TABLES.has(packed.table)) continue;
    for (const zoneId of zonesOf(packed)) {
      const masking = maskings.has(zoneId) ? undefined : maskingOf(zoneId);
      if (masking !== undefined && masking !== "undoubted") maskings.set(zoneId, masking);
    }
  }
  return maskings.size === 0 ? null : maskings;
}

/** The zone of each combination of the rows' sites. */
function zonesOf({ table, facets }: PackedRows): readonly string[] {
  const columns = facetColumns("site");
  const { texts } = facets[EVENT_SCHEMA[table].facets.indexOf("site")]!;
  const at = columns.indexOf("zone_id");
  return texts.filter((_, index) => index % columns.length === at);
}

/** The setting of each row; null if all have the default. */
function maskingOfRows(packed: PackedRows, maskings: Maskings): readonly LogMasking[] | null {
  const ofZones = zonesOf(packed).map((zoneId) => maskings.get(zoneId) ?? "undoubted");
  if (ofZones.every((masking) => masking === "undoubted")) return null;
  const { combinations } = packed.facets[EVENT_SCHEMA[packed.table].facets.indexOf("site")]!;
  return Array.from(combinations, (combination) => ofZones[combination] ?? "undoubted");
}

/** Masks each row by its own setting: two rows with the same text may belong to two zones. */
function maskByRow(
  { text, lengths }: PackedTexts,
  separator: string,
  chosen: readonly LogMasking[],
  masks: Readonly<Record<LogMasking, MaskTexts>>,
): PackedTexts {
  const values: string[] = [];
  let at = 0;
  for (const length of lengths) values.push(length === AS_BEFORE ? (values.at(-1) ?? "") : text.slice(at, (at += length)));
  for (const masking of ["undoubted", "all"] as const) {
    const rows = Array.from(values.keys()).filter((row) => chosen[row] === masking);
    const masked = masks[masking](
      rows.map((row) => values[row]!),
      separator,
    );
    for (const [i, row] of rows.entries()) values[row] = masked[i]!;
  }
  const packer = new TextPacker(values.length);
  for (const [row, value] of values.entries()) packer.push(value, row);
  return packer.take(values.length);
}

/**
 * Limit of a user agent: a head may contain one of 32 KB, and each stays for at least a day while other rows are deleted
 * to make room. Cut only after the scan, so that the cut cannot hide a finding.
 */
const AGENT_CHARS_MAX = 512;

const shortened = (texts: readonly string[]): readonly string[] =>
  texts.some(({ length }) => length > AGENT_CHARS_MAX) ? texts.map((text) => text.slice(0, AGENT_CHARS_MAX)) : texts;

/** Size of each of two generations: the older one is forgotten when the younger one is full. */
const REMEMBERED_MAX = 4096;
const REMEMBERED_CHARS_MAX = 256;

/** User agents recur, most of them with a date of eight digits: those without a finding are scanned once. */
function remembering(mask: MaskTexts): MaskTexts {
  let [younger, older] = [new Set<string>(), new Set<string>()];
  const remember = (text: string): void => {
    if (text.length > REMEMBERED_CHARS_MAX) return;
    if (younger.size === REMEMBERED_MAX) [younger, older] = [new Set(), younger];
    younger.add(text);
  };
  const isKnown = (text: string): boolean => {
    if (younger.has(text)) return true;
    if (!older.has(text)) return false;
    remember(text);
    return true;
  };
  return (texts, separator) => {
    const unknown = texts.filter((text) => !isKnown(text));
    const masked = mask(unknown, separator);
    for (const [index, text] of unknown.entries()) if (masked[index] === text) remember(text);
    if (masked === unknown) return texts;
    const changed = new Map(unknown.map((text, index) => [text, masked[index] ?? ""]));
    return texts.map((text) => changed.get(text) ?? text);
  };
}

/** Whether a text is long enough to contain a finding. */
export const hasTexts = (packed: PackedRows, charsMin: number): boolean =>
  TABLES.has(packed.table) &&
  (packed.texts.some(
    ({ lengths }, index) =>
      separatorOf(packed, index) !== undefined && lengths.some((length) => length !== AS_BEFORE && length >= charsMin),
  ) ||
    packed.facets.some((facet, index) => isAgent(packed, index) && facet.texts.some(({ length }) => length >= charsMin)) ||
    packed.texts.some(({ text }, index) => isMatches(packed, index) && hasLongName(text, charsMin)) ||
    (packed.events !== undefined && hasLongName(packed.events.matches.text, charsMin)));

const isMatches = ({ table }: PackedRows, text: number): boolean =>
  table === "security_events" && (textColumns(table)[text]?.name as string | undefined) === "matches";

const isAgent = ({ table }: PackedRows, facet: number): boolean => EVENT_SCHEMA[table].facets[facet] === "agent";

/** The separator of a text's parts; undefined if no visitor writes it. */
const separatorOf = ({ table }: PackedRows, text: number): string | undefined => SEPARATORS[textColumns(table)[text]?.name ?? ""];

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
