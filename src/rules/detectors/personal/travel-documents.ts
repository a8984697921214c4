import type { Detector } from "#rules/detectors/engine/detector.ts";
import { valueBehind } from "#rules/detectors/engine/value-range.ts";

/** The filler of machine-readable zones, as pages and data write it. */
const FILLER = String.raw`(?:<|&lt;|\\u003[Cc])`;
const LETTER = `(?:[A-Z]|${FILLER})`;
const CHARACTER = `(?:[A-Z0-9]|${FILLER})`;
const DATE = String.raw`\d{6}`;
/** Between two lines: the line end, also in a JSON string or as markup, or the name of the next line's field. */
const LINE_END = String.raw`(?:\\[rn]|<br ?/?>|</?[a-z]{1,8}>|\s|["',]){1,12}(?:[A-Za-z_]{1,12}\d?["']?\s?[:=]\s?["'])?`;

/**
 * Number, nationality, birth, sex, expiry and optional data, with their check digits: passports and visas, cards with two
 * lines.
 */
const UNDER_NAME = `${CHARACTER}{9}[0-9<]${LETTER}{3}${DATE}\\d(?:[MFX]|${FILLER})${DATE}\\d${CHARACTER}{7,15}\\d?`;
/** The second line of cards with three. */
const UNDER_NUMBER = `${DATE}\\d(?:[MFX]|${FILLER})${DATE}\\d${LETTER}{3}${CHARACTER}{11}\\d`;

const WEIGHTS = [7, 3, 1];

/** ICAO 9303-3 §4.9. */
function hasCheck(text: string, check: string | undefined): boolean {
  let sum = 0;
  for (let place = 0; place < text.length; place++) {
    const char = text[place] as string;
    sum += (char === "<" ? 0 : Number.parseInt(char, 36)) * (WEIGHTS[place % 3] as number);
  }
  return String(sum % 10) === (check === "<" ? "0" : check);
}

const isDate = (text: string): boolean => Number(text.slice(2, 4)) <= 12 && Number(text.slice(4, 6)) <= 31;

/** Birth, sex and expiry, from the first digit on. */
const hasDates = (text: string): boolean =>
  isDate(text) && isDate(text.slice(8)) && hasCheck(text.slice(0, 6), text[6]) && hasCheck(text.slice(8, 14), text[14]);

/** For a match: fillers, the end of a line, and the line with the check digits. */
function isZone(text: string): boolean {
  const line = /(?<![A-Z0-9<])[A-Z0-9<]{30,}$/.exec(text.replace(new RegExp(FILLER, "g"), "<"))?.[0] ?? "";
  const under = line.replace(/^<+/, "");
  return hasDates(under) || (hasCheck(under.slice(0, 9), under[9]) && hasDates(under.slice(13)));
}

/**
 * Machine-readable zones of passports, visas and cards (ICAO 9303): the end of the line with the name or the number,
 * which is padded with fillers, and the line below it, whose check digits identify it.
 */
export const MACHINE_READABLE_ZONE: Detector = {
  id: "pii.machine_readable_zone",
  rule_id: "3b9f0c62d7e84a15a6c1e0f85d2749ab",
  name: "Machine-readable zone of a passport, visa or identity card",
  category: "pii",
  tags: ["passport", "national-id"],
  anchors: ["<<<", "&lt;&lt;&lt;", "\\u003c\\u003c\\u003c", "\\u003C\\u003C\\u003C"].map((text) => ({
    kind: "literal",
    text,
    word: false,
  })),
  // linear: pumped
  patterns: [new RegExp(`${FILLER}{3,40}${LINE_END}(?:${UNDER_NAME}|${UNDER_NUMBER})(?![A-Za-z0-9])`, "y")],
  accepts: isZone,
  // The line with the check digits.
  // linear: pumped
  valueIn: valueBehind(new RegExp(`^${FILLER}{3,40}${LINE_END}`)),
  confidence: "high",
  enabled: true,
  hits: [
    "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408122F1204159ZE184226B<<<<<10",
    "I<UTOD231458907<<<<<<<<<<<<<<<\n7408122F1204159UTO<<<<<<<<<<<6\nERIKSSON<<ANNA<MARIA<<<<<<<<<<",
    "I&lt;UTOERIKSSON&lt;&lt;ANNA&lt;&lt;&lt;&lt;&lt;<br>D231458907UTO7408122F1204159&lt;&lt;&lt;&lt;&lt;&lt;&lt;6",
    '{"mrz":"V<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\\nL8988901C4XXX4009078F96121096ZE184226B<<<<<<"}',
  ],
  misses: [
    "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<",
    "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<\nL898902C36UTO7408123F1204159ZE184226B<<<<<10",
    "<<<<<<< HEAD\n1234567",
  ],
};
