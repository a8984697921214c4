import { charge } from "../../budget.ts";
import { rememberLast } from "#rules/text/memo.ts";
import type { RequestView } from "../../views.ts";
import { createLiteralAutomaton } from "./literal-automaton.ts";
import { READ, type Reading } from "./values/normalise.ts";
import { eachPiece } from "./values/pieces.ts";
import type { Matched } from "#rules/managed/matched-part.ts";
import { isReported } from "./benign-work.ts";
import type { AttackCategory, Signature } from "./signature.ts";
import { type Group, requiredGroups } from "./required-groups.ts";
import { createTextTest, type Spots, type TextTest } from "./text-test.ts";

/** Signatures that are evaluated once per request, for all rulesets that deploy them. */
export interface SignatureSet {
  /** Numbers of the signatures that may match the request, in order. Within one phase a request does not change. */
  candidates(request: RequestView): readonly number[];
  /** Whether the request has the signature of this number, in a target that is not excluded. */
  matches(request: RequestView, number: number, leftOut?: LeftOut): boolean;
  /** Number of matching values; at most a hundred are counted. */
  hits(request: RequestView, number: number, leftOut?: LeftOut): number;
  /** The matching values, as signatures read them: one for each of the first targets. */
  explain(request: RequestView, number: number, leftOut?: LeftOut): readonly Matched[];
}

/** Whether a signature ignores a target. */
export type LeftOut = (place: Place) => boolean;

/** A part of requests, and a name in it. */
export interface Place {
  readonly part: string;
  readonly name: string;
}

const MATCHED_CHARACTERS_MAX = 200;
/** Places of a request that are reported per signature. */
const PLACES_MAX = 16;

/** Readings that are searched separately; the other ones are covered by the text without line breaks. */
const LOOKED_THROUGH = ["sql", "path", "shell"] as const;

/** Kinds of attacks that a program runs by writing them to its log, as lookups and templates, or by reading the document. */
const RUN_BY_LOGS: ReadonlySet<AttackCategory> = new Set(["template-injection", "java", "nodejs", "protocol", "upload"]);

const HITS_MAX = 100;

// Steps per byte of a scanned piece, and of its other readings, which have fewer literals; per literal or spot that is
// kept, and per signature of that literal; per byte that is read in other ways; and per piece of any length.
const LOOK_STEPS = 4;
const OTHER_LOOK_STEPS = 3;
const FOUND_STEPS = 4;
const READ_STEPS = 5;
const ROW_STEPS = 30;
const PIECE_STEPS = 300;

/** Results of longer texts are kept only if they contain literals. */
const LONG_BYTES_MIN = 8192;

/** The parts of a request in which each signature may match. */
interface Inspection {
  readonly texts: ReadonlyMap<number, Texts>;
  readonly numbers: readonly number[];
  readonly verdicts: Map<number, boolean>;
  /** Known results of single texts, by signature. */
  readonly hitTexts: Map<number, Map<string, boolean>>;
  /** Ends of each literal in long texts, by the reading that was searched. */
  readonly spots: ReadonlyMap<Reading, Map<string, Spots>>;
}

/** Each text with all targets that contain it. */
type Texts = Map<string, Place[]>;

const NOTHING: Inspection = { texts: new Map(), numbers: [], verdicts: new Map(), hitTexts: new Map(), spots: new Map() };

export function createSignatureSet(signatures: readonly Signature[]): SignatureSet {
  const groups = signatures.map(groupsOf);
  const literals = [...new Set(groups.flat(2))];
  const numbers = new Map(literals.map((literal, number) => [literal, number]));
  const asked: readonly AskedRow[] = signatures.map(({ targets, reading, category }, number) => ({
    number,
    targets,
    reading,
    isQuoted: !RUN_BY_LOGS.has(category),
    groups: groups[number]!.map((group) => group.map((literal) => numbers.get(literal)!)),
  }));
  // The plain reading is searched for all rows, another one for its own rows only.
  const automata = new Map(
    (["plain", ...LOOKED_THROUGH] as const).map((reading) => {
      const own = asked.filter((row) => reading === "plain" || row.reading === reading);
      const needed = [...new Set(own.flatMap((row) => row.groups.flat()))];
      return [
        reading,
        createLiteralAutomaton(
          needed.map((number) => literals[number]!),
          needed,
        ),
      ];
    }),
  );
  const tests: (TextTest | undefined)[] = [];
  const keys = groups.map(rarest);
  const rows = literals.map((literal) => asked.filter((row) => keys[row.number]!.includes(literal)));

  /** The last piece in which each literal was found: a literal that occurs in it a thousand times counts once. */
  const lastLooks = new Float64Array(literals.length);
  let looks = 0;

  const inspect = rememberLast((request: RequestView): Inspection => {
    const spots = new Map<Reading, Map<string, Spots>>();
    let texts: Map<number, Texts> | null = null;
    const look = (text: string, target: number, reading: (typeof LOOKED_THROUGH)[number] | "plain", place: Place, lines = text): void => {
      const reported = isReported(place.part, place.name);
      charge(text.length * (reading === "plain" ? LOOK_STEPS : OTHER_LOOK_STEPS) + PIECE_STEPS);
      const serial = ++looks;
      let founds = 0;
      const found: AskedRow[] = [];
      const take = (literal: number): void => {
        founds++;
        lastLooks[literal] = serial;
        for (const row of rows[literal]!)
          // A reading that changes nothing was tested already.
          if ((row.targets & target) !== 0 && !(reported && row.isQuoted) && (row.reading === reading || reading === "plain"))
            found.push(row);
      };
      const automaton = automata.get(reading)!;
      if (text.length > LONG_BYTES_MIN) {
        const here = automaton.scanSpots(text, take);
        founds += here.count;
        spots.set(reading, (spots.get(reading) ?? new Map<string, Spots>()).set(text, here));
      } else automaton.scan(text, take);
      charge(founds * FOUND_STEPS + found.length * ROW_STEPS);
      for (const row of found) {
        if (!row.groups.every((group) => group.some((literal) => lastLooks[literal] === serial))) continue;
        const read = row.reading === "lines" ? lines : text;
        const known = (texts ??= new Map<number, Texts>()).get(row.number);
        const places = known?.get(read);
        if (places !== undefined) {
          if (places.at(-1) !== place) places.push(place);
        } else if (known !== undefined) known.set(read, [place]);
        else texts.set(row.number, new Map([[read, [place]]]));
      }
    };
    eachPiece(request, (value, target, part, name) => {
      const place = { part, name };
      // It was made ready already, and is read in other ways.
      charge(value.lines.length * READ_STEPS);
      look(value.text, target, "plain", place, value.lines);
      if (value.isDocument === true) return;
      for (const reading of LOOKED_THROUGH) {
        const read = READ[reading](value);
        if (read !== value.text) look(read, target, reading, place);
      }
    });
    if (texts === null) return NOTHING;
    const found: Map<number, Texts> = texts;
    return { texts: found, numbers: [...found.keys()].sort((a, b) => a - b), verdicts: new Map(), hitTexts: new Map(), spots };
  });

  const test = ({ spots }: Inspection, text: string, number: number): boolean =>
    (tests[number] ??= createTextTest(signatures[number]!, asked[number]!.groups))(
      text,
      spots.get("plain")?.get(text) ?? spots.get(signatures[number]!.reading)?.get(text),
    );

  /** Each text of a request is tested once. */
  const isHit = (inspection: Inspection, text: string, number: number): boolean => {
    const { hitTexts } = inspection;
    const known = hitTexts.get(number) ?? new Map<string, boolean>();
    hitTexts.set(number, known);
    let hit = known.get(text);
    if (hit === undefined) known.set(text, (hit = test(inspection, text, number)));
    return hit;
  };

  return {
    candidates: (request) => inspect(request).numbers,
    matches: (request, number, leftOut) => {
      const inspection = inspect(request);
      const { texts, verdicts } = inspection;
      const candidates = texts.get(number);
      if (candidates === undefined) return false;
      if (leftOut !== undefined)
        return candidates.entries().some(([text, places]) => !places.every(leftOut) && isHit(inspection, text, number));
      let verdict = verdicts.get(number);
      if (verdict === undefined) verdicts.set(number, (verdict = candidates.keys().some((text) => isHit(inspection, text, number))));
      return verdict;
    },
    hits: (request, number, leftOut = () => false) => {
      // One object per value, however many of its readings match.
      const hit = new Set<Place>();
      const inspection = inspect(request);
      for (const [text, places] of inspection.texts.get(number) ?? []) {
        if (hit.size >= HITS_MAX) break;
        if (isHit(inspection, text, number)) for (const place of places) if (!leftOut(place)) hit.add(place);
      }
      return Math.min(hit.size, HITS_MAX);
    },
    explain: (request, number, leftOut = () => false) => {
      const matched: Matched[] = [];
      const inspection = inspect(request);
      for (const [text, places] of inspection.texts.get(number) ?? []) {
        if (matched.length >= PLACES_MAX) break;
        const found = places.filter((place) => !leftOut(place) && !matched.some((known) => isPlace(known, place)));
        if (found.length === 0 || !test(inspection, text, number)) continue;
        for (const { part, name } of found.slice(0, PLACES_MAX - matched.length))
          if (!matched.some((known) => isPlace(known, { part, name })))
            matched.push({ part, name, value: text.slice(0, MATCHED_CHARACTERS_MAX) });
      }
      return matched;
    },
  };
}

const isPlace = (a: Place, b: Place): boolean => a.part === b.part && a.name === b.name;

/** A signature, and the numbers of the literals that its matches have in them: one of each group. */
interface AskedRow {
  readonly number: number;
  readonly targets: number;
  readonly reading: Reading;
  /** Whether values that only report a request may contain it. */
  readonly isQuoted: boolean;
  readonly groups: readonly (readonly number[])[];
}

/** The group whose literals are in the fewest texts: the one whose shortest literal is the longest. */
const rarest = (groups: readonly Group[]): Group => groups.reduce((a, b) => (shortest(b) > shortest(a) ? b : a));
const shortest = (group: Group): number => Math.min(...group.map((literal) => literal.length));

/** Literals are searched in the text without line breaks, for any reading. */
function groupsOf({ needs, looksFor, reading }: Signature): readonly Group[] {
  const more = "pattern" in looksFor ? requiredGroups(looksFor.pattern) : [];
  return [needs, ...more.filter((group) => reading !== "lines" || !group.some((literal) => /[\0- \xa0]/.test(literal)))];
}
