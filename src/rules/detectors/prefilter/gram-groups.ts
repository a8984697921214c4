/** Literals are found by three of their bytes. */
export const GRAM_BYTES = 3;

/** The three bytes by which a literal is found, and their group in the prefilter. */
export interface GramChoice {
  /** Offset of the three bytes in the literal. */
  readonly behind: number;
  readonly group: number;
}

/**
 * Distributes literals over the prefilter's groups. A group accepts every combination of the halves of its bytes, so
 * similar and rare bytes belong together: the goal is that other text rarely has the bytes of a group. Each literal in
 * turn goes to the group where it costs least, and once more when all the others have a group.
 */
export function chooseGrams(literals: readonly Uint8Array[], groupCount: number): readonly GramChoice[] {
  const grams = literals.map(gramsOf);
  const groups = Array.from({ length: groupCount }, () => new Group());
  const choices: GramChoice[] = [];

  const place = (own: readonly OwnGram[], index: number): void => {
    let least = Number.POSITIVE_INFINITY;
    let choice: GramChoice = { behind: 0, group: 0 };
    for (let group = 0; group < groupCount; group++) {
      for (let behind = 0; behind < own.length; behind++) {
        const gram = own[behind] as OwnGram;
        // A group never costs less with one gram more.
        if (gram.cost >= least) continue;
        const cost = (groups[group] as Group).extraCost(gram.halves) + gram.cost;
        if (cost >= least) continue;
        least = cost;
        choice = { behind, group };
      }
    }
    choices[index] = choice;
    const { halves } = own[choice.behind] as OwnGram;
    groups[choice.group]?.add(halves);
  };

  grams.forEach(place);
  for (let turn = 0; turn < TURNS; turn++) {
    grams.forEach((own, index) => {
      const { behind, group } = choices[index] as GramChoice;
      groups[group]?.remove((own[behind] as OwnGram).halves);
      place(own, index);
    });
  }
  return choices;
}

/** Further passes change hardly anything. */
const TURNS = 2;

/** The lower and the upper half of each of the three bytes, 0 to 15. */
type Halves = readonly [number, number, number, number, number, number];

/** The bytes that a group accepts, and how often other text has them. */
class Group {
  /** Members with each value of each half: 16 counts a half. */
  readonly #counts = new Uint16Array(2 * GRAM_BYTES * 16);
  /** The values of each half that a member has, a bit for each. */
  readonly #masks = new Uint16Array(2 * GRAM_BYTES);
  /** For each of the three bytes, the share of text bytes that the masks accept. Empty masks accept none. */
  readonly #shares = new Float64Array(GRAM_BYTES);
  readonly #figures = new Float64Array(GRAM_BYTES);
  #cost = 0;

  add(halves: Halves): void {
    for (let half = 0; half < 2 * GRAM_BYTES; half++) {
      const value = halves[half] as number;
      const place = half * 16 + value;
      this.#counts[place] = (this.#counts[place] as number) + 1;
      this.#masks[half] = (this.#masks[half] as number) | (1 << value);
    }
    this.#measure();
  }

  remove(halves: Halves): void {
    for (let half = 0; half < 2 * GRAM_BYTES; half++) {
      const value = halves[half] as number;
      const place = half * 16 + value;
      const count = (this.#counts[place] as number) - 1;
      this.#counts[place] = count;
      if (count === 0) this.#masks[half] = (this.#masks[half] as number) & ~(1 << value);
    }
    this.#measure();
  }

  /** By how much the group costs more with one more member. */
  extraCost(halves: Halves): number {
    let shares = 1;
    let figures = 1;
    for (let byte = 0; byte < GRAM_BYTES; byte++) {
      const lower = (this.#masks[2 * byte] as number) | (1 << (halves[2 * byte] as number));
      const upper = (this.#masks[2 * byte + 1] as number) | (1 << (halves[2 * byte + 1] as number));
      const isAccepted = lower === this.#masks[2 * byte] && upper === this.#masks[2 * byte + 1];
      shares *= isAccepted ? (this.#shares[byte] as number) : shareOf(lower, upper);
      figures *= isAccepted ? (this.#figures[byte] as number) : figuresOf(lower, upper);
    }
    return shares + FIGURES * figures - this.#cost;
  }

  #measure(): void {
    let shares = 1;
    let figures = 1;
    for (let byte = 0; byte < GRAM_BYTES; byte++) {
      const [lower = 0, upper = 0] = this.#masks.subarray(2 * byte, 2 * byte + 2);
      shares *= this.#shares[byte] = shareOf(lower, upper);
      figures *= this.#figures[byte] = figuresOf(lower, upper);
    }
    this.#cost = shares + FIGURES * figures;
  }
}

interface OwnGram {
  readonly halves: Halves;
  /** Cost of its own hits in other text, beside that of its group. */
  readonly cost: number;
}

function gramsOf(literal: Uint8Array): readonly OwnGram[] {
  return Array.from({ length: literal.length - GRAM_BYTES + 1 }, (_, at) => {
    const bytes = literal.subarray(at, at + GRAM_BYTES + 1);
    const [first = 0, second = 0, third = 0] = bytes;
    return { halves: [first & 15, first >> 4, second & 15, second >> 4, third & 15, third >> 4], cost: ownCost(bytes) };
  });
}

/** Cost of a hit, in multiples of the cost of an accepted combination that is not a gram. */
const HIT_COST = 8;
/** Letters are adjacent in words, this many times as often as by chance. */
const WORD_FACTOR = 20;

/** The byte after the three is compared as well (prefilter.ts). */
function ownCost(bytes: Uint8Array): number {
  const perMillion = COMMON.get(Buffer.from(bytes).toString("latin1"));
  if (perMillion !== undefined) return (HIT_COST * perMillion) / 1_000_000;
  const isWord = bytes.subarray(0, GRAM_BYTES).every((byte) => byte >= 0x61 && byte <= 0x7a);
  return bytes.reduce((product, byte) => product * (SHARES[byte] ?? RARE / 10_000), HIT_COST * (isWord ? WORD_FACTOR : 1));
}

/** Parts of our literals in common words, counted in a million bytes. */
const COMMON: ReadonlyMap<string, number> = new Map([
  ...["tion", "ctio", "ment", "http", "pat", "://", "key", "----", "ttps", "s://", "ps:/", "tps:", "oken"].map(
    (text) => [text, 500] as const,
  ),
  ...["ken", "ount", "coun", "ient", "test", "api", "lien", ".com", "cess", "ccou", "clie", "om/", "com/"].map(
    (text) => [text, 300] as const,
  ),
  ...["ithu", "thub", "gith", "aria", "Toke", "toke", "serv", "erve", "-key", "evel", "ut_", "rver"].map((text) => [text, 200] as const),
  ...["api_", "pi_", "elop", "velo", "deve", "Key", "re_", "ai-", "st.", "nt-", "cces", "on-", "_tok"].map((text) => [text, 130] as const),
  ...["acce", "-pro", "ent-", "th_", "hook", "cord", "auth", "e.co", "ss_", "gent", ".0-", "ooks", "tp:/"].map(
    (text) => [text, 75] as const,
  ),
  ...["p://", "post", "ttp:", "audi", "figu", "ecre", "ntry", "/api", "keys", "cret", "dk-", "ucti", "et_", "ffel", "uffe"].map(
    (text) => [text, 50] as const,
  ),
]);

/**
 * The part of all text that is only figures: pictures, style sheets, data. Figures stand beside figures, so that three are
 * far more frequent than their shares say. With 0.01 or less the groups of figures are wide, with 0.1 others are.
 */
const FIGURES = 0.03;

/** The share of the bytes of such text with one of the lower and one of the upper halves: digits, a blank, a comma, a dash and a point. */
const figuresOf = (lower: number, upper: number): number =>
  ((upper >> 3) & 1) * 0.07 * ones(lower & 0x3ff) +
  ((upper >> 2) & 1) * ((lower & 1) * 0.1 + ((lower >> 12) & 1) * 0.04 + ((lower >> 13) & 1) * 0.06 + ((lower >> 14) & 1) * 0.08);

function ones(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** The share of text bytes with one of the lower and one of the upper halves. */
function shareOf(lower: number, upper: number): number {
  let sum = 0;
  for (let high = 0; high < HALVES; high++)
    if ((upper >> high) & 1) sum += (SUMS[high * 512 + (lower & 0xff)] as number) + (SUMS[high * 512 + 256 + (lower >> 8)] as number);
  return sum;
}

/** Bytes of pages, data and scripts by frequency, counted in a machine's documentation and packages. */
const CHARACTERS_BY_SHARE: readonly (readonly [perTenThousand: number, characters: string])[] = [
  [1430, " "],
  [710, "e"],
  [450, "tsaron"],
  [280, "ilcd\n"],
  [180, 'pu/>"h.<m'],
  [90, "fg=b,)("],
  [70, "\ty-_:v"],
  [45, "{}x;w0k"],
  [34, "1S'Aj*T"],
  [26, "CI2ERP#`"],
  [18, "3O45DN[]B"],
  [13, "qMLU68zF97"],
  [6, "&HG?VWJ@!$|"],
  [2, "KQXYZ+\\~^%"],
];
const RARE = 1;

const SHARES = new Float64Array(128).fill(RARE / 10_000);
for (const [perTenThousand, characters] of CHARACTERS_BY_SHARE)
  for (const char of characters) SHARES[char.charCodeAt(0)] = perTenThousand / 10_000;

/** Upper halves of ASCII. */
const HALVES = 8;
/**
 * For each upper half, the shares of the bytes with the first eight lower halves, by each set of these, and of those with
 * the other eight.
 */
const SUMS = Float64Array.from({ length: HALVES * 512 }, (_, place) => {
  const [first, set] = [(place >> 9) * 16 + ((place >> 8) & 1) * 8, place & 0xff];
  let sum = 0;
  for (let low = 0; low < 8; low++) if ((set >> low) & 1) sum += SHARES[first + low] as number;
  return sum;
});
