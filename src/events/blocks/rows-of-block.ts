import { AS_BEFORE, type NumberedRows, type PackedTexts } from "#events/rows/packed-rows.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { EVENT_SCHEMA, numberColumns, textColumns } from "#events/rows/schema.ts";
import type { Block } from "./block.ts";

/** Some rows of a block in their original order, to be rewritten; a newer column has its zero (schema.ts). */
export function rowsOfBlock(table: EventTable, block: Block, kept: readonly number[]): NumberedRows {
  const facets = EVENT_SCHEMA[table].facets.map((name) => facetOf(block, name, kept));
  return {
    table,
    rows: kept.length,
    facets: facets.map(({ combinations }) => ({ texts: [], combinations })),
    ids: facets.map(({ ids }) => ids),
    texts: textColumns(table).map(({ name }) => textsOf(block, name, kept)),
    numbers: numberColumns(table).map(({ name, nullable }) => numbersOf(block, name, nullable, kept)),
  };
}

/** Only remaining combinations keep their numbers. */
function facetOf(
  block: Block,
  name: string,
  kept: readonly number[],
): { readonly ids: readonly number[]; readonly combinations: Uint32Array } {
  const { ids, codes } = block.facet(name);
  const places = new Map<number, number>();
  const combinations = Uint32Array.from(kept, (row) => {
    const id = ids[codes === null ? 0 : codes[row]!]!;
    let place = places.get(id);
    if (place === undefined) places.set(id, (place = places.size));
    return place;
  });
  return { ids: [...places.keys()], combinations };
}

function textsOf(block: Block, name: string, kept: readonly number[]): PackedTexts {
  const texts = block.has(name) ? block.texts(name) : { at: () => "" };
  const lengths = new Uint32Array(kept.length);
  let [text, before] = ["", ""];
  for (const [index, row] of kept.entries()) {
    const own = texts.at(row);
    if (index > 0 && own === before) lengths[index] = AS_BEFORE;
    else {
      lengths[index] = own.length;
      text += own;
    }
    before = own;
  }
  return { text, lengths };
}

function numbersOf(block: Block, name: string, isNullable: boolean, kept: readonly number[]): Float64Array {
  if (!block.has(name)) return new Float64Array(kept.length).fill(isNullable ? Number.NaN : 0);
  const numbers = block.numbers(name);
  return Float64Array.from(kept, (row) => numbers[row]!);
}
