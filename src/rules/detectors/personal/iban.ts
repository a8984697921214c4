import { mod97 } from "#rules/detectors/checks/checks.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import { GAP_PART } from "#rules/detectors/engine/gaps.ts";
import { SEPARATOR_BUT_BLANK, withoutSpelled } from "#rules/detectors/checks/separators.ts";

/**
 * Countries by the length of their IBANs: those of the registry (ISO 13616), and those of Africa and Iran whose banks use
 * such numbers without being in it.
 */
const COUNTRIES_BY_LENGTH: readonly (readonly [number, string])[] = [
  [15, "NO"],
  [16, "BE"],
  [18, "DK FK FO FI GL NL SD"],
  [19, "MK SI"],
  [20, "AT BA EE KZ LT LU MN XK"],
  [21, "CH HR LI LV"],
  [22, "BG BH CR DE GB GE IE ME RS VA"],
  [23, "AE GI IL IQ OM SO TL"],
  [24, "AD CZ ES MD PK RO SA SE SK TN VG"],
  [25, "AO CV GW LY MZ PT ST"],
  [26, "DZ IR IS TR"],
  [27, "BI CF CG CM DJ FR GA GQ GR IT KM MC MG MR SM TD"],
  [28, "AL AZ BF BJ BY CI CY DO GT HN HU LB MA ML NE NI PL SN SV TG"],
  [29, "BR EG PS QA UA"],
  [30, "JO KW MU YE"],
  [31, "MT SC"],
  [32, "LC"],
  [33, "RU"],
];

/** Separators and blanks between two characters. No two alternatives begin alike, so that none is tried twice. */
const BETWEEN_MAX = 8;
const BETWEEN = `(?:${SEPARATOR_BUT_BLANK}|${GAP_PART}){0,${BETWEEN_MAX}}`;

/** As many characters as the country's numbers have, in any grouping: the check digits decide. */
function shape(length: number, countries: string): string {
  const names = `${countries} ${countries.toLowerCase()}`.replaceAll(" ", "|");
  return String.raw`(?:${names})${BETWEEN}\d\d(?:${BETWEEN}[A-Za-z0-9]){${length - 4}}`;
}

const PATTERN = new RegExp(
  `(?:${COUNTRIES_BY_LENGTH.map(([length, countries]) => shape(length, countries)).join("|")})(?![A-Za-z0-9_])`,
  "y",
);

/**
 * In one piece or in groups of four, like nearly all; the country may be separate.
 * linear: pumped
 */
// linear: pumped
const USUAL_GROUPS = /^[A-Za-z]{2} ?\d\d(?:[A-Za-z0-9]+|(?: [A-Za-z0-9]{4})+(?: [A-Za-z0-9]{1,3})?)$/;
/** For numbers in other groups: words and digits of a sentence can have any form. */
const DIGITS_SHARE_MIN = 0.6;

const GROUPS_MAX = 11;

/** The beginning of a UUID (RFC 9562 §4): of those whose first letters are a country, one in 97 has its check digits. */
const UUID_START = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}(?:-|$)/i;

/** After a word in lower case, any digits can follow. */
function isGrouped(text: string): boolean {
  const groups = text.replace(/[^A-Za-z0-9]+/g, " ");
  if (USUAL_GROUPS.test(groups)) return true;
  const { length } = groups.replaceAll(" ", "");
  if (/^[a-z]+ /.test(groups) || groups.length - length >= GROUPS_MAX) return false;
  return groups.replace(/\D/g, "").length >= length * DIGITS_SHARE_MIN;
}

/** One case throughout, and as many digits as accounts have, unlike words and keys. */
const isSmallIban = (iban: string): boolean => !/[A-Z]/.test(iban) && /\d{6}/.test(iban);

export const IBAN_DETECTOR: Detector = {
  id: "fin.iban",
  rule_id: "2aa7aff0a89b8477985f4d17f080b154",
  name: "International bank account number (IBAN)",
  category: "financial",
  anchors: [{ kind: "country_check", countries: COUNTRIES_BY_LENGTH.flatMap(([, names]) => names.split(" ")) }],
  patterns: [PATTERN],
  accepts: (text) => {
    const plain = withoutSpelled(text);
    const iban = plain.replace(/[^A-Za-z0-9]/g, "");
    if (!isGrouped(plain) || UUID_START.test(plain)) return false;
    if (/[a-z]/.test(iban) && !isSmallIban(iban)) return false;
    return mod97(iban.toUpperCase()) && !/^....0+$/.test(iban);
  },
  confidence: "high",
  enabled: true,
  undoubted: () => true,
  hits: [
    "DE89 3704 0044 0532 0130 00",
    "GB82WEST12345698765432",
    "this is an iban VG96 VPVG 0000 0123 4567 8901 X in a sentence",
    "AL47-2121-1009-0000-0002-3569-8741",
    "de89370400440532013000",
    "gb82 west 1234 5698 7654 32",
    "IBANDE89370400440532013000",
    "IBAN:DE89.3704.0044.0532.0130.00",
    "DE89\t3704\t0044\t0532\t0130\t00",
    "<b>DE89</b> <b>3704</b> <b>0044</b> <b>0532</b> <b>0130</b> <b>00</b>",
    "DE 89 3704 0044 0532 0130 00",
    "DE 89 370 400 44 0532013000",
    "NO39 7874 05 97506",
    "no39 7874 05 97506",
    "NO 39 7874.05.97506",
    "BE-68-539-007547034",
    "CH93 0076 2011 6238 52957",
    "FR14 20041 01005 0500013M026 06",
    "GB 82 WEST 1234 56987654 32",
    "NL 91 ABNA 0417 1643 00",
    "DE 89370400440532013000",
    "<td>NL91&nbsp;ABNA&nbsp;0417&nbsp;1643&nbsp;00</td>",
  ],
  misses: [
    "be639318-c2d2-40c6-af0d-b4ddba175cfc",
    "DE89 3704 0044 0532 0130 01",
    "DE8937040044053201300",
    "XDE89370400440532013000",
    "DE89370400440532013000A",
    "ZZ89370400440532013000",
    "de89370400440532013001",
    "De89370400440532013000",
    "DE 89 370 400 44 0532013001",
    "de 89 370 400 44 0532013000",
    "DE 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 0",
  ],
};
