import { isUniform, weighted } from "#rules/detectors/checks/check-digits.ts";
import { isPlaceholder, luhn } from "#rules/detectors/checks/checks.ts";
import { codeDetectors } from "./code-detector.ts";
import { groupedCodes, groupedNumbers, MIXED_CODES, plainCodes } from "./code-forms.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";

const digits = (from: number, to: number, before = ""): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, more) => before + "#".repeat(from + more));

/** With the country before the number, and the suffix for the tax. */
const VAT_FORMS = [
  ...[
    "AA#########A##",
    "#########A##",
    "#########AAA",
    "AAA-###.###.### AAA",
    "AAA-###.###.### AAAA",
    "AAA######### AAA",
    "AAA#########AAAA",
  ],
  ...["###.###.### AAA", "### ### ### AAA", "AA ### ### ### AAA", "AA ### #### ##", "AA ### #### ## ###", "AA######### ###", "AAAA###"],
  ...[
    "AA ########",
    "AA #########",
    "AA ##########",
    "AA ###########",
    "AA ############",
    "AA #######A",
    "AA #########A##",
    "AA-########A",
  ],
  ...["AA##.###.###.#-###.###", "AA##.###.###/####-##", "AA###.###.###-##", "AA####-######-###-#", "AA#-##-#####-#", "AA###-#######-#"],
  ...[
    "AAAAA######***",
    "AAAAAA######***",
    "AAAAA-######-***",
    "AAAAAA-######-***",
    "AAAAA ###### ***",
    "AAAAAA ###### ***",
    "AA###-######-####A",
  ],
  ...[
    "AA#*#####A",
    "AA# #####A",
    "# #####A",
    "A*#########",
    "AA*A#########",
    "AA*#########",
    "AA ** #########",
    "AA ** ### ### ###",
    "A##-####-########",
  ],
  ...["AA##AAAAA####A***", "###### #### ##", "######-#### ##", "AA ######-#### ##", "######## A", "#########AA", "AA#########AA####"],
];

const UEN_LETTERS = "ABCDEFGHJKLMNPQRSTUVWX0123456789";

/** Singapore: businesses, local companies (the year of registration first), and all other entities. */
function isUen(code: string): boolean {
  const check = code.at(-1) as string;
  const number = code.slice(0, -1);
  if (/^\d{8}$/.test(number)) return "XMKECAWLJDB"[weighted(number, [10, 4, 9, 3, 8, 2, 7, 1]) % 11] === check;
  if (/^(?:19|20)\d{7}$/.test(number)) return "ZKCMDNERGWH"[weighted(number, [10, 8, 6, 4, 9, 7, 5, 3, 1]) % 11] === check;
  if (!/^[RST]\d\d[A-Z]{2}\d{4}$/.test(number)) return false;
  const weights = [4, 3, 5, 3, 10, 2, 2, 5, 7];
  const sum = weights.reduce((all, weight, place) => all + weight * UEN_LETTERS.indexOf(number[place] as string), 0);
  return UEN_LETTERS[(sum - 5) % 11] === check;
}

/** Numbers of companies, which are in public registers and on every invoice: off by default. */
export const BUSINESS_DETECTORS: readonly Detector[] = [
  ...codeDetectors(
    "financial",
    ["vat"],
    [
      {
        id: "fin.vat_other",
        rule_id: "b4c2f0a8d61e4d39a7350ce1f92b8d64",
        name: "Value added tax number of any form, beside its name",
        templates: () => [
          ...plainCodes(),
          ...groupedNumbers(),
          ...["AA", "AA "].flatMap((country) => groupedNumbers().map((number) => country + number)),
          ...groupedCodes(),
          ...MIXED_CODES,
          ...VAT_FORMS,
        ],
        isValid: (code) => code.length > 4 && !isUniform(code.replace(/\D/g, "")),
        context: [
          ...[
            "vat",
            "ustid",
            "ust-id",
            "tva",
            "partita iva",
            "p. iva",
            "btw",
            "umsatzst",
            "mehrwertst",
            "mwst",
            "moms",
            "mva",
            "merverdiavgift",
          ],
          ...["alv", "arvonlisavero", "pvm", "pvn", "pdv", "ddv", "dph", "dds", "ддс", "ндс", "ust", "omzetbelasting", "valeur ajoutee"],
          ...["taxe sur la valeur", "value added", "gst", "kdv", "фпа", "φπα", "αφμ", "kozossegi adoszam"],
        ],
        enabled: false,
        hits: ["VAT 123456789", "VAT no. DO123-4567890-1", "vat: ID12.345.678.9-012.345"],
        misses: ["123456789", "VAT 000000000", "vat 20", "VAT of 2000"],
      },
    ],
  ),
  ...codeDetectors(
    "pii",
    ["business"],
    [
      {
        id: "pii.orgnr_se",
        rule_id: "e07d1c5b42f84a0c9b86d3a5f1907c2e",
        name: "Swedish organisation number",
        templates: ["######-####"],
        // The third digit distinguishes it from a person's number, which has the month there.
        isValid: (number) => Number(number[2]) >= 2 && luhn(number) && !isPlaceholder(number),
        enabled: false,
        hits: ["556703-7485 är vårt orgnummer", "212000-0142"],
        misses: ["556703-7486", "640823-3234"],
      },
      {
        id: "pii.orgnr_se_plain",
        rule_id: "25c4ccd2fb10f8902f4bdef095db52ac",
        name: "Swedish organisation number without dash, beside its name",
        templates: ["##########"],
        isValid: (number) => Number(number[2]) >= 2 && luhn(number) && !isPlaceholder(number),
        context: ["organisationsnummer", "orgnummer", "orgnr", "org nr", "organisation number", "tax id"],
        enabled: false,
        hits: ["Orgnr: 5567037485", "organisationsnummer 2120000142"],
        misses: ["5567037485", "orgnr 5567037486", "orgnr 6408233234"],
      },
      {
        id: "pii.uen_sg",
        rule_id: "1d94b6e7a0c34f58912fe3d07b5c8a46",
        name: "Singapore unique entity number",
        templates: ["########A", "#########A", "A##AA####A"],
        isValid: isUen,
        isUpperCase: true,
        enabled: false,
        hits: ["UEN 53125226D", "201434292D", "T16RF0037C"],
        misses: ["53125226E", "201434292E", "T16RF0037D", "53125226d"],
      },
      {
        id: "pii.hrb_de",
        rule_id: "7c0e95d2b81f46a3ad64f02e9b3c17d8",
        name: "German commercial register number",
        templates: [...digits(3, 6, "AAA"), ...digits(1, 6, "AAA ")],
        isValid: (code) => /^HR[AB]/.test(code),
        enabled: false,
        hits: ["HRB 12345", "eingetragen im HRA12345"],
        misses: ["HRC 12345", "HRB 1234567", "XHRB 12345"],
      },
    ],
  ),
];
