import { newUlids, ULID_LENGTH } from "#kernel/crypto/ids.ts";
import { TextPacker } from "./column-packers.ts";
import { AS_BEFORE, type PackedEvents, type PackedFacet, type PackedRows, type PackedTexts } from "./packed-rows.ts";
import { EVENT_SCHEMA, facetColumns, type FacetName, numberColumns, textColumns } from "./schema.ts";

/**
 * The security events of a batch of requests as rows: the edge reports only their requests and rules, so that no data is
 * packed, sent and scanned twice.
 */
export function eventsOfRequests(requests: PackedRows, events: PackedEvents): PackedRows {
  const { rows } = events;
  // If each request has one event, as with a rule for all requests, the columns are the same as the requests'.
  const of = rows === requests.rows && events.requests.every((request, row) => request === row) ? null : events.requests;
  const times = numbersOf(requests.numbers[REQUEST_NUMBERS.indexOf("at_ms")]!, of);
  const texts: Readonly<Record<string, () => PackedTexts>> = {
    id: () => ({ text: newUlids(times), lengths: new Uint32Array(rows).fill(ULID_LENGTH) }),
    matches: () => events.matches,
  };
  const facets: Partial<Record<FacetName, () => PackedFacet>> = {
    rule: () => events.rule,
    event_kind: () => facetOf(requests, "request_kind", "event_kind", of),
  };
  return {
    table: "security_events",
    rows,
    facets: EVENT_SCHEMA.security_events.facets.map((name) => facets[name]?.() ?? facetOf(requests, name, name, of)),
    texts: EVENT_TEXTS.map((name) => texts[name]?.() ?? textsOf(requests.texts[REQUEST_TEXTS.indexOf(name)]!, of)),
    numbers: EVENT_NUMBERS.map((name) => {
      const at = REQUEST_NUMBERS.indexOf(name);
      return at < 0 ? new Float64Array(rows) : numbersOf(requests.numbers[at]!, of);
    }),
  };
}

/** Positions of the wanted requests, one for each row; null for all of them. */
type Requests = Uint32Array | null;

const numbersOf = (column: Float64Array, of: Requests): Float64Array =>
  of === null ? column : Float64Array.from(of, (row) => column[row]!);

function textsOf({ text, lengths }: PackedTexts, of: Requests): PackedTexts {
  if (of === null) return { text, lengths };
  // Start and end of each request's text.
  const bounds = new Uint32Array(2 * lengths.length);
  for (let row = 0, from = 0, to = 0; row < lengths.length; row++) {
    if (lengths[row] !== AS_BEFORE) [from, to] = [to, to + lengths[row]!];
    bounds[2 * row] = from;
    bounds[2 * row + 1] = to;
  }
  const packer = new TextPacker(of.length);
  for (const [at, row] of of.entries()) packer.push(text.slice(bounds[2 * row], bounds[2 * row + 1]), at);
  return packer.take(of.length);
}

/** The requests' combinations of one facet as those of another facet that has some of its columns. */
function facetOf(requests: PackedRows, from: FacetName, to: FacetName, of: Requests): PackedFacet {
  const facet = requests.facets[EVENT_SCHEMA.requests.facets.indexOf(from)]!;
  if (of === null && from === to) return facet;
  const width = facetColumns(from).length;
  const columns = facetColumns(to).map((column) => facetColumns(from).indexOf(column));
  const texts: string[] = [];
  const known = new Map<string, number>();
  const numberOf = (combination: number): number => {
    const cells = columns.map((column) => facet.texts[combination * width + column]!);
    const key = JSON.stringify(cells);
    let number = known.get(key);
    if (number === undefined) {
      known.set(key, (number = known.size));
      texts.push(...cells);
    }
    return number;
  };
  // Indexed by the requests' combination; only combinations of wanted rows have an entry.
  const numbers: number[] = [];
  const combinations = (of ?? facet.combinations).map((row) => {
    const combination = of === null ? row : facet.combinations[row]!;
    return (numbers[combination] ??= numberOf(combination));
  });
  return { texts, combinations };
}

const namesOf = (columns: readonly { readonly name: string }[]): readonly string[] => columns.map(({ name }) => name);
const [REQUEST_TEXTS, REQUEST_NUMBERS] = [namesOf(textColumns("requests")), namesOf(numberColumns("requests"))];
const [EVENT_TEXTS, EVENT_NUMBERS] = [namesOf(textColumns("security_events")), namesOf(numberColumns("security_events"))];
