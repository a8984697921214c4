import { ean13 } from "#rules/detectors/checks/check-digits.ts";
import { digitsOf, isPlaceholder, luhn } from "#rules/detectors/checks/checks.ts";
import { isIdentifier } from "./number-place.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";

interface Network {
  readonly id: string;
  readonly rule_id: string;
  readonly name: string;
  /** First digits, both bounds inclusive and of the same length. */
  readonly prefixes: readonly (readonly [string, string])[];
  readonly lengths: readonly number[];
  /** Numbers as short as an order number count only near a word that names them. */
  readonly labelled: boolean;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

const from16to19 = [16, 17, 18, 19];

/**
 * Issuer prefixes and lengths as ISO/IEC 7812 registrants publish them. The first matching network owns a number:
 * co-branded ranges are listed under the network that routes them.
 */
const NETWORKS: readonly Network[] = [
  {
    id: "visa",
    rule_id: "7cceb9a577bffa40845d93b90c306269",
    name: "Visa",
    prefixes: [["4", "4"]],
    lengths: [13, 16, 19],
    labelled: false,
    hits: [
      "4716461583322103",
      "Card: 4929 7226 5379 7141.",
      "4111-1111-1111-1111",
      "pan=4716989580001715211&x=1",
      "4035501000000008 12/29 737",
      "4929 7226 5379 7141 1229",
      "4929\t7226\t5379\t7141",
      "4929  7226  5379  7141",
      "4929\r\n7226\r\n5379\r\n7141",
      '<span>4929</span> <span class="c2">7226</span> <span>5379</span> <span>7141</span>',
      "4929<b>7226</b>5379<b>7141</b>",
      "VISA4716461583322103",
      "Visa4929 7226 5379 7141",
    ],
    misses: [
      "4716461583322104",
      "0.4716461583322103",
      "x4716461583322103",
      "<td>4929</td><td>7226</td><td>5379</td><td>7141</td>",
      "4929 7226\t5379<hr>7141",
      "4444444444444448",
      "4929 7226 5379 7141 8812 9034 1122",
      "47164615833221030",
      "4006381333924",
    ],
  },
  {
    id: "mastercard",
    rule_id: "880f3040bb8c75d685cc5eb242ad2327",
    name: "Mastercard",
    prefixes: [
      ["51", "55"],
      ["2221", "2720"],
    ],
    lengths: [16],
    labelled: false,
    hits: ["5398228707871527", "2222155765072228", '{"pan":"2720 4280 1172 3762"}'],
    misses: ["5398228707871528", "2721000000000005", "5098228707871523"],
  },
  {
    id: "amex",
    rule_id: "404fb6978e7a6682dbc0ce3879a2a3fc",
    name: "American Express",
    prefixes: [
      ["34", "34"],
      ["37", "37"],
    ],
    lengths: [15],
    labelled: false,
    hits: ["375556917985515", "3782 822463 10005", "3714-496353-98431"],
    misses: ["375556917985516", "3782 8224 6310 0050"],
  },
  {
    id: "diners",
    rule_id: "b3ccc3bc9b0954aaf9ded8f2c61c194c",
    name: "Diners Club",
    prefixes: [
      ["300", "305"],
      ["3095", "3095"],
      ["36", "36"],
      ["38", "39"],
    ],
    lengths: [14, 15, 16, 17, 18, 19],
    labelled: false,
    hits: ["36050234196908", "3056 930902 5904"],
    misses: ["36050234196909"],
  },
  {
    id: "jcb",
    rule_id: "ac80d87bd664911bdaac0f37423e7db1",
    name: "JCB",
    prefixes: [["3528", "3589"]],
    lengths: from16to19,
    labelled: false,
    hits: ["3530111333300000", "3566 0020 2036 0505"],
    misses: ["3530111333300001", "3590000000000008"],
  },
  {
    id: "jcb_other",
    rule_id: "b6d4c4552c0adfa529ea37703af68eab",
    name: "JCB, old and other ranges",
    prefixes: [
      ["1800", "1800"],
      ["2131", "2131"],
      ["3500", "3527"],
      ["3590", "3599"],
    ],
    lengths: [15, 16],
    labelled: true,
    hits: ["the limit for card 213173282369527", "cc 180016070420458", "card 3590730093437731"],
    misses: ["180016070420458", "card 180016070420459", "3590730093437731"],
  },
  {
    id: "unionpay",
    rule_id: "85f748fc368298ac5db7df4ba66c701b",
    name: "UnionPay",
    prefixes: [
      ["62", "62"],
      ["8110", "8171"],
    ],
    lengths: from16to19,
    labelled: false,
    hits: ["6283875070985593", "8171999900000000021"],
    misses: ["6283875070985594", "8172999900000000020"],
  },
  {
    id: "discover",
    rule_id: "4618ec995176cdc6fc659915af5ff4e3",
    name: "Discover",
    prefixes: [
      ["6011", "6011"],
      ["644", "649"],
      ["65", "65"],
    ],
    lengths: from16to19,
    labelled: false,
    hits: ["6011111111111117", "6011 0009 9013 9424"],
    misses: ["6011111111111118", "6010111111111118"],
  },
  {
    id: "mir",
    rule_id: "89f7d871ae13eae88fe45a9e82936490",
    name: "Mir",
    prefixes: [["2200", "2204"]],
    lengths: from16to19,
    labelled: false,
    hits: ["2200 1234 5678 9019", "2201382000000013"],
    misses: ["2205382000000019", "2201382000000014"],
  },
  {
    id: "troy",
    rule_id: "19328af17ac305277ef871b19c822793",
    name: "Troy",
    prefixes: [["9792", "9792"]],
    lengths: [16],
    labelled: false,
    hits: ["9792030394440796"],
    misses: ["9792030394440797"],
  },
  {
    id: "maestro",
    rule_id: "edca1261246fff97f1b60eab6c540e8e",
    name: "Maestro and other debit schemes",
    prefixes: [
      ["50", "50"],
      ["56", "58"],
      ["60", "61"],
      ["63", "63"],
      ["66", "69"],
      ["0604", "0604"],
    ],
    lengths: [12, 13, 14, 15, ...from16to19],
    labelled: true,
    hits: ["Maestro 6759649826438453", "card number 630427373398 is lost", "debit: 676222165679"],
    misses: ["6759649826438453", "order 630427373398"],
  },
  {
    id: "domestic",
    rule_id: "d0b4a7c35e9146f8b2f36a1d7c85e904",
    name: "RuPay, Humo, Uzcard, NAPAS, BC Card and other domestic schemes",
    prefixes: [
      ["2205", "2205"],
      ["8100", "8109"],
      ["8172", "8299"],
      ["8600", "8600"],
      ["9112", "9112"],
      ["9400", "9499"],
      ["9682", "9682"],
      ["9704", "9704"],
      ["9860", "9860"],
    ],
    lengths: [16, 19],
    labelled: true,
    hits: [
      "RuPay 8209416730528718",
      "card 9410 0183 7264 5090",
      "Humo 9860 0371 4829 0564",
      "card 9704183055271940638",
      "card number 8109471502863919",
    ],
    misses: ["8209416730528718", "card 8209416730528719", "card 8171999900000000021"],
  },
  {
    id: "uatp",
    rule_id: "6e2f91c8a07d4b53950c7be41d38f2a6",
    name: "UATP",
    prefixes: [
      ["100", "179"],
      ["1801", "1899"],
      ["190", "199"],
    ],
    lengths: [15],
    labelled: true,
    hits: ["UATP 122047193850629", "card number 135082746193503"],
    misses: ["122047193850629", "UATP 122047193850620", "card 180016070420458"],
  },
];

const WORDS_OF_CARDS = [
  "card",
  "maestro",
  "debit",
  "credit",
  "payment",
  "pan",
  "cc",
  "karte",
  "carte",
  "carta",
  "tarjeta",
  "karta",
  "カード",
  "卡号",
  // Names without another meaning, of the schemes whose numbers need a label.
  "rupay",
  "uatp",
  "uzcard",
  "humo",
  "napas",
  "meeza",
  "hipercard",
  "girocard",
  "dankort",
];

/** As they are printed and typed: in one piece, or in groups, the last of which may be short. */
const FORMS = [
  ...Array.from({ length: 8 }, (_, more) => "#".repeat(12 + more)),
  "####~####~####~####",
  "####~######~####",
  "####~######~#####",
  ...["#", "##", "###"].map((rest) => `####~####~####~####~${rest}`),
  ...["##", "###"].map((rest) => `####~####~####~${rest}`),
  ...["####_####_####_####", "####_######_####", "####_######_#####"],
];

/** Nearly all cards have one of these lengths; numbers of 13 or 14 digits can be articles and times, and longer ones orders. */
const hasCardLength = (text: string): boolean => [15, 16].includes(digitsOf(text).length);

/** Identifiers of 17 to 19 digits are many, and cards of that length few: without groups, only a word makes one certain. */
const isSureForm = (text: string): boolean => digitsOf(text).length <= 16 || !/^\d+$/.test(text);

const NUMBERS = NETWORKS.map((network): Detector => ({
  id: `fin.card_${network.id}`,
  rule_id: network.rule_id,
  name: `Payment card number (${network.name})`,
  category: "financial",
  anchors: [{ kind: "chain", templates: FORMS, stuck: true }],
  patterns: [],
  accepts: (text) => isCard(digitsOf(text), network),
  place: { holds: isIdentifier, isWanted: false },
  confidence: "medium",
  ...(network.labelled ? { context: WORDS_OF_CARDS } : { sureBeside: WORDS_OF_CARDS, sureForm: isSureForm, undoubted: hasCardLength }),
  enabled: true,
  hits: network.hits,
  misses: network.misses,
}));

/** Networks whose numbers need a label, in four groups of four digits, which replace the label. */
const GROUPED: Detector = {
  id: "fin.card_grouped",
  rule_id: "14da9d58258667d75cc7a9c31ea94545",
  name: "Payment card number of a debit or domestic scheme, in groups of four",
  category: "financial",
  anchors: [{ kind: "chain", templates: ["####~####~####~####", "####_####_####_####"] }],
  patterns: [],
  accepts: (text) => NETWORKS.some((network) => network.labelled && isCard(digitsOf(text), network)),
  confidence: "medium",
  enabled: true,
  hits: ["6759 6498 2643 8453", "8209-4167-3052-8718", "9860&nbsp;0371&nbsp;4829&nbsp;0564"],
  misses: ["6759649826438453", "6759 6498 2643 8454", "1234 5678 9012 3452"],
};

/**
 * The first track of a magnetic stripe, whose number follows a letter (ISO/IEC 7813); the second track's number has none
 * before it.
 */
const TRACK: Detector = {
  id: "fin.card_track",
  rule_id: "9e0d7b5c31f84a62b8c9046fd5a1e273",
  name: "Magnetic stripe of a payment card, first track",
  category: "financial",
  anchors: [{ kind: "chain", templates: Array.from({ length: 8 }, (_, more) => `A${"#".repeat(12 + more)}`) }],
  patterns: [],
  accepts: (text) => text.startsWith("B") && NETWORKS.some((network) => isCard(text.slice(1), network)),
  context: ["%"],
  confidence: "high",
  enabled: true,
  hits: ["%B4716461583322103^DOE/JANE^27122010000012300000?"],
  misses: ["B4716461583322103", "%B4716461583322104^DOE/JANE^2712"],
};

export const CARD_DETECTORS: readonly Detector[] = [...NUMBERS, GROUPED, TRACK];

/** Article numbers of German shops begin with 4 like Visa, whose numbers of 13 digits are nearly extinct. */
const isArticle = (digits: string): boolean => digits.length === 13 && ean13(digits);

const isCard = (digits: string, network: Network): boolean =>
  fits(digits, network) && luhn(digits) && !isPlaceholder(digits) && !isArticle(digits);

const fits = (digits: string, network: Network): boolean =>
  network.lengths.includes(digits.length) &&
  network.prefixes.some(([first, last]) => {
    const prefix = digits.slice(0, first.length);
    return prefix >= first && prefix <= last;
  });
