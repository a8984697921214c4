import { AS_BEFORE, type PackedRows } from "#events/rows/packed-rows.ts";
import { eventsOfRequests } from "#events/rows/request-events.ts";
import { EVENT_SCHEMA, facetColumns } from "#events/rows/schema.ts";

export interface LineOptions {
  /** The node that wrote the rows; empty for processes with a database. */
  readonly node: string;
  nextRow(): number;
}

/** Makes the security events of requests separate rows: they get their ids once, and keep them when a block is sent again. */
export function apart(packed: PackedRows): readonly PackedRows[] {
  const { events, ...requests } = packed;
  return events === undefined ? [packed] : [requests, eventsOfRequests(packed, events)];
}

/** Each row as a line of JSON, with its cells in the order of `insertedColumns`. */
export function* rowLines(packed: PackedRows, { node, nextRow }: LineOptions): Generator<string> {
  const facets = EVENT_SCHEMA[packed.table].facets.map((name, i) => {
    const { texts, combinations } = packed.facets[i]!;
    const width = facetColumns(name).length;
    // Most rows share their combinations.
    const cells = Array.from({ length: texts.length / width }, (_, n) =>
      texts
        .slice(n * width, (n + 1) * width)
        .map(json)
        .join(","),
    );
    return { cells, combinations };
  });
  const texts = packed.texts.map(({ text, lengths }) => ({ text, lengths, at: 0, cell: '""' }));
  const last = json(node);
  for (let row = 0; row < packed.rows; row++) {
    let line = "[";
    for (const { cells, combinations } of facets) line += `${cells[combinations[row]!]!},`;
    for (const column of texts) {
      const length = column.lengths[row]!;
      if (length !== AS_BEFORE) column.cell = json(column.text.slice(column.at, (column.at += length)));
      line += `${column.cell},`;
    }
    for (const numbers of packed.numbers) line += Number.isFinite(numbers[row]!) ? `${numbers[row]!},` : "null,";
    yield `${line}${last},${nextRow()}]\n`;
  }
}

/** ClickHouse refuses halves of surrogate pairs. */
const json = (text: string): string => JSON.stringify(text.toWellFormed());
