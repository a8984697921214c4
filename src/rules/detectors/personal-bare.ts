import { codeDetectors, type CodeRow } from "./code-detector.ts";
import type { Detector } from "./detector.ts";
import { FINANCIAL_DETECTORS } from "./financial.ts";
import { EUROPEAN_DETECTORS } from "./personal-europe.ts";
import { OTHER_PERSONAL_DETECTORS } from "./personal-other.ts";
import { WORLD_DETECTORS } from "./personal-world.ts";

/** A detector beside a name, once more without it. */
interface BareRow {
  readonly of: string;
  readonly rule_id: string;
  /** What tells the number from others where the other detector has only its form. */
  readonly form?: RegExp;
  readonly hit: string;
  readonly miss: string;
}

const BARE: readonly BareRow[] = [
  { of: "pii.kvnr_de", rule_id: "a1f05c7d3e9b4286b0d4175ec68a2f93", hit: "A123456780", miss: "A123456781" },
  {
    of: "pii.identity_card_de",
    rule_id: "b27d91e04f6c4a35837ea5c0d1f8b264",
    form: /^(?=(?:[A-Z]*\d){5})[A-Z0-9]{9}$/,
    hit: "L01X00T44",
    miss: "l01x00t44",
  },
  { of: "pii.tax_id_de", rule_id: "c39ae27b51d84f60a4c8e6f10d57b392", hit: "65929970489", miss: "65929970488" },
  { of: "pii.national_id_se_plain", rule_id: "d4b83f96c2a5417e95d0f7b21e68ca43", hit: "198112189876", miss: "198112189875" },
  { of: "pii.national_id_pl", rule_id: "e5c94a07d3b64f8fa6e108c32f79db54", hit: "44051401458", miss: "44051401459" },
  { of: "pii.rrn_kr_plain", rule_id: "f6da5b18e4c7409ab7f219d43a8aec65", hit: "9111245678901", miss: "9113245678901" },
  { of: "pii.pan_in", rule_id: "07eb6c29f5d8410bc80a2ae54b9bfd76", form: /^...[ABCFGHJLPT]/i, hit: "ABCPD1234Z", miss: "ABCND1234Z" },
  {
    of: "pii.voter_id_in",
    rule_id: "18fc7d3a06e9421cd91b3bf65caca087",
    form: /^.[ABCDGHJKMNPRSYZ]/i,
    hit: "KSD1287349",
    miss: "KQD1287349",
  },
  { of: "pii.abn_au", rule_id: "290d8e4b17fa432dea2c4c076dbdb198", hit: "51 824 753 556", miss: "51 824 753 557" },
  { of: "pii.tfn_au", rule_id: "3a1e9f5c280b443efb3d5d187ecec2a9", hit: "876 543 210", miss: "876 543 211" },
  { of: "pii.identity_card_it", rule_id: "4b2fa06d391c454f0c4e6e298fdfd3ba", hit: "CA12345AA", miss: "CA1234AA" },
  { of: "fin.aba_routing", rule_id: "5c30b17e4a2d4650ad5f7f3a90e0e4cb", hit: "121000358", miss: "121000359" },
];

const BY_ID = new Map(
  [...FINANCIAL_DETECTORS, ...EUROPEAN_DETECTORS, ...WORLD_DETECTORS, ...OTHER_PERSONAL_DETECTORS].map((one) => [one.id, one]),
);

function bare({ of, rule_id, form, hit, miss }: BareRow): Detector {
  const named = BY_ID.get(of);
  if (named === undefined) throw new Error(`no detector "${of}" to leave the name out of`);
  const { context: _, namedBehind: _behind, accepts, name, tags = [], ...row } = named;
  return {
    ...row,
    id: `${of}_bare`,
    rule_id,
    name: `${name.replace(/, beside its name$/, "")}, whatever stands beside it`,
    tags: [...tags, "bare"],
    accepts: form === undefined ? accepts : (text) => form.test(text) && accepts(text),
    confidence: "medium",
    enabled: false,
    hits: [hit],
    misses: [miss],
  };
}

const bareForms = (tag: string, rows: readonly CodeRow[]): readonly Detector[] =>
  codeDetectors(
    "pii",
    [tag, "bare"],
    rows.map((row) => ({ ...row, enabled: false })),
  );

/** Forms that are told by themselves, and by less than check digits. */
const FORMS: readonly Detector[] = [
  ...bareForms("passport", [
    {
      id: "pii.passport_kr_bare",
      rule_id: "6d41c28f5b3e4761be608a4ba1f1f5dc",
      name: "Korean passport number, whatever stands beside it",
      templates: ["A########", "A###A####"],
      isValid: (code) => /^[DGMORS]/.test(code),
      hits: ["M12345678", "S012D5678"],
      misses: ["Z12345678", "M1234567"],
    },
  ]),
  ...bareForms("driving-licence", [
    {
      id: "pii.driver_licence_it_bare",
      rule_id: "7e52d3906c4f4872cf719b5cb20206ed",
      name: "Italian driving licence number, whatever stands beside it",
      // Of the provinces until 2013, and of the state since.
      templates: ["AA#######A", "A#********"],
      isValid: (code) => /^[A-Z]{2}\d{7}[A-Z]$|^U1[A-HJ-NPR-Z0-9]{7}[A-Z]$/.test(code) && /\d.*\d.*\d/.test(code),
      isUpperCase: true,
      hits: ["AA0123456B", "U1H00B000C"],
      misses: ["U2H00B000C", "aa0123456b"],
    },
    {
      id: "pii.driver_licence_de_bare",
      rule_id: "8f63e4a17d50498390820c6dc31317fe",
      name: "German driving licence number, whatever stands beside it",
      templates: ["AA########A", "AA#########"],
      isValid: (code) => /\d{8}/.test(code),
      hits: ["BO12345678A", "GE123456780"],
      misses: ["BO1234567A"],
    },
  ]),
  ...bareForms("vehicle", [
    {
      id: "pii.vehicle_plate_de_bare",
      rule_id: "9074f5b28e614a94a1931d7ed42428af",
      name: "German registration plate, whatever stands beside it",
      templates: [" ", "-"].flatMap((separator) =>
        ["A", "AA", "AAA"].flatMap((district) =>
          ["A", "AA"].flatMap((middle) =>
            ["##", "###", "####", "##A", "###A", "####A"].map((number) => [district, middle, number].join(separator)),
          ),
        ),
      ),
      isValid: (code) => /^[A-Z]{2,5}[1-9]\d{1,3}[EH]?$/.test(code),
      isUpperCase: true,
      hits: ["HH-AB-1234", "B AB 1234", "KA EF 12H"],
      misses: ["hh-ab-1234", "HH-AB-0123", "KA EF 12X"],
    },
    {
      id: "pii.vehicle_plate_uk_bare",
      rule_id: "a18506c39f724ba5b2a42e8fe53539b0",
      name: "British registration plate since 2001, whatever stands beside it",
      templates: ["AA##~AAA", "AA##AAA"],
      // No place begins with these; the half-year is that of the year, or 50 more.
      isValid: (code) => /^[A-HJ-PR-Y][A-HJ-PR-Y](?:0[2-9]|[1-2]\d|[5-7]\d)[A-HJ-PR-Z]{3}$/.test(code),
      isUpperCase: true,
      hits: ["AB51 ABC", "BD62XYZ", "LN14-HGT"],
      misses: ["AB31 ABC", "ab51 abc"],
    },
    {
      id: "pii.vehicle_plate_uk_older_bare",
      rule_id: "a54cc3b30eaed22d4a341888b51f0b72",
      name: "British registration plate from before 2001, whatever stands beside it",
      // With the year's letter in front, or behind; of fewer digits it would be anything.
      templates: ["A###~AAA", "A###AAA", "AAA~###A", "AAA###A"],
      // No year or place has the letters I, Q and Z.
      isValid: (code) => /^(?:[A-HJ-NP-TV-Y][1-9]\d\d[A-HJ-PR-Y]{3}|[A-HJ-PR-Y]{3}[1-9]\d\d[A-HJ-NP-TV-Y])$/.test(code),
      isUpperCase: true,
      hits: ["A123 BCD", "M456DEF", "ABC 123D", "DEF456G"],
      misses: ["a123 bcd", "A012 BCD", "I123 BCD", "ABC 12D"],
    },
    {
      id: "pii.vehicle_plate_ng_bare",
      rule_id: "b29617d4a0834cb6c3b53f90f6464ac1",
      name: "Nigerian registration plate, whatever stands beside it",
      templates: ["AAA-###AA", "AAA ###AA", "AAA###AA"],
      isValid: () => true,
      isUpperCase: true,
      hits: ["APP-456CV", "APP456CV"],
      misses: ["app-456cv", "APP-45CV"],
    },
  ]),
];

/**
 * Numbers without the word that says what they are: by their check digits, or by a form that little else has. Common enough in
 * other data to be off unless asked for.
 */
export const BARE_DETECTORS: readonly Detector[] = [...FORMS, ...BARE.map(bare)];
