import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { compileDetectors } from "./compiled.ts";
import { scanText } from "./scan-text.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";

const compiled = compileDetectors(DETECTORS);
const cardsIn = (text: string): readonly string[] =>
  scanText(compiled, text).findings.flatMap(({ detector: { id } }) => (/^fin\.(?:card_|iban)/.test(id) ? [id] : []));

/** Text before fractions without their zero, in scripts, styles and drawings. */
const BEFORE_FRACTIONS = [
  "",
  " ",
  "opacity:",
  "(",
  "[",
  ",",
  "=",
  "-",
  "+",
  "*",
  "/",
  "<",
  ">",
  "&",
  "!",
  "?",
  "{x:",
  '"',
  "'",
  "<td>",
  "M0 0c",
  "zm",
  "10 20l-",
  "h",
  "A",
  "return",
  "case",
  "yield",
];

test("digits after a decimal point without a zero are a fraction, and not a card", () => {
  const digits = fc.constantFrom("4906619460083532", "5309136012499991", "4716461583322103", "375556917985515");
  fc.assert(
    fc.property(
      fc.constantFrom(...BEFORE_FRACTIONS),
      digits,
      fc.constantFrom("", ";", ",.5", ")", " ", "-.25"),
      (before, number, behind) => {
        const text = `${before}.${number}${behind}`;
        assert.deepEqual(cardsIn(text), [], text);
      },
    ),
  );
});

test("a number after the end of a sentence or a row of dots counts", () => {
  for (const before of ["Card No.", "your card number.", "Karte......", "n.", "Visa.", "Nº.", "card № 4. "])
    assert.deepEqual(cardsIn(`${before}4716461583322103`), ["fin.card_visa"], before);
});
