import assert from "node:assert/strict";
import { test } from "node:test";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { scanText } from "#rules/detectors/engine/scan-text.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { pick, type Random, seeded, SURROUNDINGS } from "#rules/detectors/testing/forms.ts";

// Forms as governments, the OECD's sheets of tax numbers and the registries of plates publish them, written down apart from the
// detectors' own: `9` is a digit, `A` a letter, `X` either. Whether check digits fit is left to chance, so that the name has to do.
interface Kind {
  readonly words: readonly string[];
  readonly forms: Readonly<Record<string, string>>;
}

const KINDS: Readonly<Record<string, Kind>> = {
  passport: {
    words: ["passport", "Passport No", "passport_number"],
    forms: {
      "AM GR IT JP PK PL TH": "AA9999999",
      "AR NO": "AAA999999",
      "AT CH IN IS ID LK TN UY": "A9999999|A999999",
      "AU EE IE LV PH SI SK UA": "A9999999|AA9999999|AA999999",
      "BD CL HK KZ MX MY NG OM TR US ZA": "A99999999",
      "BE BR CA MM NZ PT SE": "AA999999|A999999AA",
      BG: "999999999",
      CN: "E99999999|EA9999999",
      CZ: "99999999",
      "DE LU": "C9A9A9999|CXX9X9XX9",
      "EC PE": "9999999999|9999999",
      "FR GE": "99AA99999",
      LI: "A99999",
      LY: "AX99X999",
      "NL LU": "AA9X9X999",
      "PH SG": "A9999999A",
      RU: "99 9999999|99 99 999999",
      VE: "999999999",
    },
  },
  "national id": {
    words: ["national id", "National ID number", "identity card no"],
    forms: {
      "AL SG": "A99999999A",
      AR: "99.999.999|99999999",
      BD: "9999999999|9999999999999|99999999999999999",
      BE: "99.99.99-999.99|999-9999999-99",
      BR: "99.999.999-9",
      CN: "999999999999999999|99999999999999999X",
      CO: "9.999.999.999",
      CR: "9-9999-9999",
      "CZ SK": "999999/9999",
      DO: "999-9999999-9",
      EG: "9-999999-99-99999",
      ES: "99999999A|99.999.999-A|A-9999999-A",
      GH: "GHA-999999999-9",
      GT: "9999 99999 9999",
      HK: "A999999(9)|AA999999(9)",
      HN: "9999-9999-99999",
      HU: "999999AA|9-999999-9999",
      IR: "999-999999-9",
      LV: "999999-99999",
      MX: "AAAA999999AAAAAAX9",
      NP: "99-99-99-99999",
      PA: "9-999-9999|PE-9-9999",
      PH: "9999-9999-9999-9999|9999-9999999-9",
      PK: "99999-9999999-9",
      PT: "99999999 9 AA9",
      RU: "9999 999999|99 99 999999",
      TH: "9-9999-99999-99-9|9 9999 99999 99 9",
      TZ: "99999999-99999-99999-99",
      UG: "CM99999999999A",
      VE: "V-99.999.999|V-99999999",
      ZW: "99-999999A99|99-999999-A-99",
    },
  },
  "tax id": {
    words: ["tax id", "Tax Number", "TIN"],
    forms: {
      AD: "A-999999-A",
      AT: "99-999/9999|99 999/9999",
      AU: "999 999 999|99 999 999 999",
      BR: "999.999.999-99|99.999.999/9999-99",
      CA: "999-999-999|999999999RC9999",
      CH: "CHE-999.999.999",
      CL: "99.999.999-9",
      CO: "999.999.999-9",
      CY: "99999999A",
      DE: "99 999 999 999|999/9999/9999|99/999/99999",
      DO: "9-99-99999-9",
      FI: "9999999-9",
      ID: "99.999.999.9-999.999|9999999999999999",
      IN: "AAAPA9999A|99AAAAA9999A9A9",
      JP: "T9999999999999",
      KE: "A999999999A",
      KH: "A999-999999999",
      KR: "999-99-99999",
      MX: "AAAA999999XXX|AAA-999999-XXX",
      MY: "SG9999999999|IG99999999999",
      NG: "99999999-9999",
      PA: "999999-9-999999",
      PH: "999-999-999-999",
      PL: "999-999-99-99",
      SV: "9999-999999-999-9",
      TN: "9999999A/A/A/999",
      US: "99-9999999",
      VE: "J-99999999-9",
      VN: "9999999999-999",
      ZA: "9999/999/99/9",
    },
  },
  vat: {
    words: ["VAT", "vat number", "USt-IdNr."],
    forms: {
      AL: "J99999999A",
      AT: "ATU99999999",
      BE: "BE0999999999|BE 0999.999.999",
      CH: "CHE-999.999.999 MWST",
      CL: "CL99999999-9",
      CY: "CY99999999A",
      DE: "DE999999999|DE 999 999 999",
      DK: "DK 99 99 99 99",
      DO: "DO999-9999999-9",
      ES: "ESA99999999|ES99999999A",
      FR: "FR99999999999|FRAA999999999|FR 99 999 999 999",
      GB: "GB 999 9999 99|GB999999999999|GBHA999",
      ID: "ID99.999.999.9-999.999",
      IE: "IE9999999A|IE9999999AA",
      NI: "NI999-999999-9999A",
      NL: "NL999999999B99",
      NO: "NO 999 999 999 MVA|999999999MVA",
      PL: "PL999-999-99-99",
      SE: "SE999999999901",
      SV: "SV9999-999999-999-9",
      UY: "UY999999999999",
      VE: "VEJ-99999999-9",
    },
  },
  plate: {
    words: ["license plate", "vehicle registration", "Kennzeichen"],
    forms: {
      AR: "AAA 999|AA 999 AA",
      AT: "W-99999A|GR-999AA",
      BE: "9-AAA-999",
      BR: "AAA-9999|AAA9A99",
      CH: "ZH 999999",
      CL: "AAAA-99",
      CO: "AAA-999",
      CZ: "9A9 9999",
      DE: "B-AB 1999|HH-AA 99E",
      DK: "AA 99 999",
      ES: "9999 BBB|9999-BBB",
      FR: "AA-999-AA|999 AAA 99",
      GB: "AB99 AAA|A999 AAA",
      HU: "AA AA-999|AAA-999",
      IE: "12-D-9999|191-MH-999",
      IN: "MH 12 AB 9999|DL 9C AB 9999|KA-01-AB-9999",
      NG: "AAA-999AA",
      NL: "99-AA-99|AAA-99-A",
      PE: "A9A-999",
      PK: "AAA-9999|LE-99-9999",
      PL: "WA 99999|KR 9999A",
      PT: "AA-99-AA",
      RO: "B 999 AAA|CJ-99-AAA",
      SE: "AAA 99A",
      SI: "LJ AA-999",
      TR: "34 AA 9999",
      US: "9AAA999|AAA 9999",
      VN: "99A-999.99",
    },
  },
  licence: {
    words: ["driving licence", "driver's license number", "Führerschein"],
    forms: {
      "US-CA": "A9999999",
      "US-CO": "99-999-9999",
      "US-FL": "A999-999-99-999-9",
      "US-IL": "A999-9999-9999",
      "US-IN": "9999-99-9999",
      "US-KY": "A99-999-999",
      "US-MD": "A-999-999-999-999",
      "US-MI": "A 999 999 999 999",
      "US-NJ": "A9999 99999 99999",
      "US-ND": "AAA-99-9999",
      "US-WY": "999999-999",
      AU: "999999999",
      CA: "A9999-99999-99999|A9999-999999-99",
      DE: "B999AA99999|AA99999999A",
      FR: "99AA99999|999999999999",
      IN: "MH99 99999999999|MH-9999999999999",
      IT: "AA9999999A",
      KR: "99-99-999999-99",
      PL: "99999/99/9999",
      PT: "AA-999999 9",
      ZA: "9999999999AA|99999999AAAA",
    },
  },
};

const LETTERS = [..."ABCDEFGHJKLMNPRSTUVWXYZ"];
const CLASSES: Readonly<Record<string, (random: Random) => string>> = {
  "9": (random) => String(random(10)),
  A: (random) => pick(random, LETTERS),
  X: (random) => pick(random, [...LETTERS, ..."0123456789"]),
};
const numberOf = (form: string, random: Random): string => Array.from(form, (char) => CLASSES[char]?.(random) ?? char).join("");

/** Some random texts have hardly a digit, and are then not detected as numbers. */
const RECALL_MIN = 0.97;
const compiled = compileDetectors(DETECTORS);

for (const [kind, { words, forms }] of Object.entries(KINDS)) {
  test(`recall of each country's ${kind} beside its name`, (t) => {
    const random = seeded(kind.length * 31 + 5);
    const missed: string[] = [];
    let made = 0;
    for (const [countries, own] of Object.entries(forms)) {
      for (const form of own.split("|")) {
        const texts = SURROUNDINGS.map((surround) => surround(numberOf(form, random), pick(random, words)));
        const lost = texts.filter((text) => scanText(compiled, text).findings.length === 0);
        made += texts.length;
        missed.push(...lost);
        assert.ok(lost.length <= texts.length / 4, `${countries} ${form}: ${lost.slice(0, 3).join(" | ")}`);
      }
    }
    t.diagnostic(`${(100 * (1 - missed.length / made)).toFixed(1)} % of ${made}`);
    assert.ok(missed.length <= made * (1 - RECALL_MIN), missed.slice(0, 5).join(" | "));
  });
}
