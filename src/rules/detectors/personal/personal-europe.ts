import {
  ean13,
  hasDayFirst,
  hasYearFirst,
  isDay,
  isUniform,
  mod11,
  mod11And10,
  remainder,
  weighted,
} from "#rules/detectors/checks/check-digits.ts";
import { luhn } from "#rules/detectors/checks/checks.ts";
import { codeDetectors } from "./code-detector.ts";

const LETTERS_OF_DNI = "TRWAGMYFPDXBNJZSQVHLCKE";

function isDni(code: string): boolean {
  const number = code.slice(0, -1).replace(/^[XYZ]/, (letter) => String("XYZ".indexOf(letter)));
  return /^\d+$/.test(number) && !isUniform(number) && LETTERS_OF_DNI[Number(number) % 23] === code.at(-1);
}

/** Area, birth date, letter of the name and serial; the letter counts as its place in the alphabet (§ 2 VKVV). */
function isRvnr(code: string): boolean {
  const number = code.slice(0, 8) + String(code.charCodeAt(8) - 64).padStart(2, "0") + code.slice(9, 11);
  const sum = [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1].reduce((all, weight, place) => {
    const product = weight * Number(number[place]);
    return all + Math.floor(product / 10) + (product % 10);
  }, 0);
  // § 2 (3) and (5): if the day is unknown or has no serials left, numbers use days that no month has.
  return Number(code.slice(2, 4)) < 64 && Number(code.slice(4, 6)) <= 12 && sum % 10 === Number(code[11]);
}

// The values of letters and digits at odd places of a codice fiscale (decree of 23 December 1976).
const ODD_OF_CODICE = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
];

function isCodiceFiscale(code: string): boolean {
  if (!"ABCDEHLMPRST".includes(code[8] ?? "?")) return false;
  let sum = 0;
  for (let place = 0; place < 15; place++) {
    const value = Number.parseInt(code[place] as string, 36);
    sum += place % 2 === 0 ? (ODD_OF_CODICE[value] as number) : value < 10 ? value : value - 10;
  }
  return String.fromCharCode(65 + (sum % 26)) === code[15];
}

/** Used near its name, so that samples that break the rule about repeated digits count as well. */
const isSteuerId = (digits: string): boolean => digits[0] !== "0" && !isUniform(digits) && mod11And10(digits);

/** INSEE: two digits that complete the first thirteen to a multiple of 97; Corsica's departments have a letter. */
function isNir(code: string): boolean {
  const digits = code.replace("2A", "19").replace("2B", "18");
  const month = Number(digits.slice(3, 5));
  if (!/^[12378]\d{14}$/.test(digits) || !((month >= 1 && month <= 12) || (month >= 20 && month <= 42))) return false;
  return 97 - remainder(digits.slice(0, 13), 97) === Number(digits.slice(13));
}

/** Since 2000, a 2 is put before the number for the check. */
function isBelgian(digits: string): boolean {
  const check = Number(digits.slice(9));
  if (Number(digits.slice(2, 4)) % 20 > 12) return false;
  return [digits.slice(0, 9), `2${digits.slice(0, 9)}`].some((number) => 97 - remainder(number, 97) === check);
}

const isNorwegian = (digits: string): boolean =>
  isDay(Number(digits.slice(2, 4)) % 40, Number(digits.slice(0, 2)) % 40) &&
  mod11(digits, [3, 7, 6, 1, 8, 9, 4, 5, 2]) &&
  mod11(digits, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]);

/** Estonia and Lithuania: weights from 1, and from 3 where those give 10. */
function isBaltic(digits: string): boolean {
  if (!/^[1-8]/.test(digits) || !hasYearFirst(digits, 1)) return false;
  const first = weighted(digits, [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
  const check = first < 10 ? first : (weighted(digits, [3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11) % 10;
  return check === Number(digits[10]);
}

/** Swedish numbers count their ten last digits; coordination numbers add 60 to the day. */
function isSwedish(digits: string): boolean {
  const ten = digits.slice(-10);
  return isDay(Number(ten.slice(2, 4)), Number(ten.slice(4, 6)) % 60) && luhn(ten);
}

/** The Yugoslav number, which its successors kept. */
const isEmso = (digits: string): boolean =>
  isDay(Number(digits.slice(2, 4)), Number(digits.slice(0, 2))) && mod11(digits, [7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]);

/** Women's months are 50 higher, and since 2004 both may be 20 higher. */
function isRodneCislo(digits: string): boolean {
  const month = Number(digits.slice(2, 4)) % 50;
  return isDay(month > 20 ? month - 20 : month, Number(digits.slice(4, 6))) && remainder(digits, 11) === 0;
}

const isNino = (code: string): boolean => /^(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]$/.test(code);

const LETTERS_OF_PPS = "WABCDEFGHIJKLMNOPQRSTUV";

function isPps(code: string): boolean {
  const extra = code[8] === undefined || code[8] === "W" ? 0 : (code.charCodeAt(8) - 64) * 9;
  return LETTERS_OF_PPS[(weighted(code, [8, 7, 6, 5, 4, 3, 2]) + extra) % 23] === code[7];
}

export const EUROPEAN_DETECTORS = codeDetectors(
  "pii",
  ["national-id", "europe"],
  [
    {
      id: "pii.nino_uk",
      rule_id: "a8acfd15f83d11a37848c2c84f915d01",
      name: "UK National Insurance number",
      templates: ["AA######A", "AA ## ## ## A", "AA-##-##-##-A", "AA ###### A", "AA ######A", "AA###### A"],
      isValid: isNino,
      sureBeside: ["national insurance", "nino", "ni no", "ni num", "ni code", "insurance no", "insurance num"],
      hits: ["NI number AB 12 34 56 C", '"nino":"ce123456d"', "CE 123456 D", "PR 123612C"],
      misses: ["GB 12 34 56 C", "DA123456C", "AB123456E", "AB1234567C"],
    },
    {
      id: "pii.national_id_es",
      rule_id: "bf1543f0056b0120b1f9dab1a3094d59",
      name: "Spanish DNI or NIE",
      templates: ["########A", "########-A", "A#######A", "A-#######-A"],
      isValid: isDni,
      confidence: "high",
      isUpperCase: true,
      hits: ["DNI 12345678Z", "nie: X1234567L", "01234567-L"],
      misses: ["12345678A", "X1234567A", "A1234567L"],
    },
    {
      id: "pii.national_id_es_labelled",
      rule_id: "bcaf98ed1f307b6425767bc6b2dd7202",
      name: "Spanish DNI or NIE with small letters, beside its name",
      templates: ["########A", "########-A", "A#######A", "A-#######-A"],
      isValid: isDni,
      context: ["dni", "nif", "nie", "documento nacional", "national id"],
      hits: ["dni: 12345678z", "NIE x1234567l"],
      misses: ["12345678z", "dni 12345678a"],
    },
    {
      id: "pii.identity_card_it",
      rule_id: "f6da5b18e4c740f0a7f973d43a8a8a05",
      name: "Italian identity card number, beside its name",
      // On paper in both orders, and electronic.
      templates: ["AA#######", "AA #######", "#######AA", "AA#####AA"],
      isValid: (code) => !isUniform(code.replace(/[A-Z]/g, "")),
      context: ["carta d'identita", "carta di identita", "carta identita", "cie", "documento", "identity card"],
      hits: ["carta d'identità AA1234567", "CIE CA12345AA"],
      misses: ["AA1234567", "CIE CA00000AA"],
    },
    {
      id: "pii.codice_fiscale_it",
      rule_id: "41ddfc04a99ca7a142f1bdf0e9e1c824",
      name: "Italian codice fiscale",
      templates: ["AAAAAA##A##A###A", "AAAAAA##A##A*##A"],
      isValid: isCodiceFiscale,
      confidence: "high",
      hits: ["RSSMRA85T10A562S", "cf mrtmtt91d08f205j"],
      misses: ["RSSMRA85T10A562T", "RSSMRA85X10A562S"],
    },
    {
      id: "pii.nir_fr",
      rule_id: "1f1c34e31e66d2afee5cd43611727583",
      name: "French social security number (NIR)",
      templates: ["###############", "# ## ## ## ### ### ##", "# ## ## *A ### ### ##", "#####*A########", "############# ##"],
      isValid: isNir,
      confidence: "high",
      hits: ["2 55 08 14 168 025 38", "255081416802538"],
      misses: ["2 55 08 14 168 025 39", "455081416802538"],
    },
    {
      id: "pii.tax_id_de",
      rule_id: "412519c33ce9db51256d81572bf8f7c6",
      name: "German tax identification number",
      templates: ["###########", "## ### ### ###"],
      isValid: isSteuerId,
      context: ["steuer", "idnr", "tax id", "tin", "tax number"],
      hits: ["Steuer-ID: 12345678903", "tax id 65 929 970 489"],
      misses: ["12345678903", "Steuer-ID: 12345678904", "Steuer-ID: 01234567890"],
    },
    {
      id: "pii.bsn_nl",
      rule_id: "125f2cf4a34bdcf3521ac8ef89a2c2b8",
      name: "Dutch citizen service number (BSN)",
      templates: ["#########", "####.##.###"],
      isValid: (digits) => !isUniform(digits) && weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0,
      context: ["bsn", "burgerservice", "sofinummer", "citizen service"],
      hits: ["BSN 111222333", "burgerservicenummer: 1234.56.782"],
      misses: ["111222333", "BSN 111222334"],
    },
    {
      id: "pii.national_id_be",
      rule_id: "b1ae061c8cf0fbe4177e46c569919f24",
      name: "Belgian national number",
      templates: ["##.##.##-###.##", "###########"],
      isValid: isBelgian,
      context: [
        "rijksregister",
        "registre national",
        "numero national",
        "national number",
        "nationaal nummer",
        "insz",
        "niss",
        "rrn",
        "belg",
      ],
      hits: ["rijksregisternummer 93.05.18-223.61", "NISS 93051822361"],
      misses: ["93051822361", "rijksregisternummer 93.05.18-223.62"],
    },
    {
      id: "pii.ahv_ch",
      rule_id: "5be925e87c68db00fec1874a6bac540c",
      name: "Swiss AHV number",
      templates: ["###.####.####.##", "#############"],
      isValid: (digits) => digits.startsWith("756") && ean13(digits),
      confidence: "high",
      hits: ["756.9217.0769.85", "ahv 7569217076985"],
      misses: ["756.9217.0769.86", "757.9217.0769.85"],
    },
    {
      id: "pii.svnr_at",
      rule_id: "defee1ee87e314be408094416dccb815",
      name: "Austrian social insurance number",
      templates: ["##########", "#### ######"],
      isValid: (digits) => hasDayFirst(digits, 4) && weighted(digits, [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11 === Number(digits[3]),
      context: ["svnr", "sozialversicherung", "versicherungsnummer", "social insurance", "sv nummer"],
      hits: ["SVNR 1237 010180", "Sozialversicherungsnummer: 1237010180"],
      misses: ["1237 010180", "SVNR 1238 010180"],
    },
    {
      id: "pii.tax_id_at",
      rule_id: "93b0d7f25e1c4a86bd40a9c8e6f1352d",
      name: "Austrian tax number",
      templates: ["##-###/####", "## ###/####"],
      isValid: luhn,
      hits: ["Steuernummer 93-173/6581"],
      misses: ["Steuernummer 93-173/6582"],
    },
    {
      id: "pii.rvnr_de",
      rule_id: "04ce8b713fd24d57a5ef62b09c1d8e97",
      name: "German pension insurance number",
      templates: ["########A###", "## ###### A ###"],
      isValid: isRvnr,
      isUpperCase: true,
      hits: ["RVNR: 15070649C103", "65 070803 A 019", "38551285K051"],
      misses: ["15070649C104", "15076649C103", "15650649C103", "15070649c103"],
    },
    {
      id: "pii.identity_card_de",
      rule_id: "fd26a1e0937b4c6f8e58d41b0c72a93e",
      name: "German identity card number, beside its name",
      templates: ["A********"],
      // linear: pumped
      isValid: (code) => /^[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ\d]{8}$/.test(code) && /\d.*\d.*\d/.test(code) && !isUniform(code.slice(1)),
      context: ["personalausweis", "ausweis", "identity card", "id card", "perso"],
      // Eight characters of either kind: a form that is common in every text, so checking it costs too much by default.
      enabled: false,
      hits: ["Personalausweis: L01X00T44.", "Ausweis Nr. T22000129"],
      misses: ["L01X00T44", "Ausweis L0AX00T44", "Ausweis T00000000"],
    },
    {
      id: "pii.national_id_se",
      rule_id: "6f7496614fd5ca5e8a585a421fb36f1f",
      name: "Swedish personal number",
      templates: ["######-####", "########-####"],
      isValid: isSwedish,
      hits: ["811218-9876", "19811218-9876"],
      misses: ["811218-9875", "811318-9876"],
    },
    {
      id: "pii.national_id_se_plain",
      rule_id: "670bf06f182d7ff6990919f545e5ee57",
      name: "Swedish personal number without dash, beside its name",
      // From the year on in which a person becomes 100, a plus replaces the dash; it counts as a space.
      templates: ["##########", "############", "###### ####"],
      isValid: isSwedish,
      context: [
        "personnummer",
        "pnr",
        "samordningsnummer",
        "personal number",
        "identity code",
        "personal identity",
        "swedish",
        "tax id",
        "national id",
      ],
      isStuck: true,
      hits: [
        "personnummer 8112189876",
        "Swedish id code is198112189876",
        "personal identity code is: 198112189876",
        "personnummer 200228+5266",
      ],
      misses: ["8112189876", "personnummer 8112189875"],
    },
    {
      id: "pii.national_id_no",
      rule_id: "618264a940d7b6adfbc8fa766cc2699d",
      name: "Norwegian national identity number",
      templates: ["###########", "###### #####"],
      isValid: isNorwegian,
      hits: ["01010123476", "010101 23476"],
      misses: ["01010123477", "32010123476"],
    },
    {
      id: "pii.cpr_dk",
      rule_id: "cf02663453d6b9652e9af58ed372a76f",
      name: "Danish CPR number",
      templates: ["######-####", "##########"],
      isValid: (digits) => hasDayFirst(digits),
      context: ["cpr", "personnummer", "danish", "danmark", "national id", "tax id"],
      hits: ["CPR 211062-5629", "cpr-nr 2110625629"],
      misses: ["211062-5629", "CPR 991362-5629"],
    },
    {
      id: "pii.national_id_fi",
      rule_id: "210ab90bfabafc38160ade4b1413f835",
      name: "Finnish personal identity code",
      templates: ["######-###*", "######A###*"],
      isValid: (code) => {
        const digits = code.replace(/^(\d{6})[A-FU-Y]?(\d{3})/, "$1$2");
        return (
          /^\d{9}.$/.test(digits) && hasDayFirst(digits) && "0123456789ABCDEFHJKLMNPRSTUVWXY"[Number(digits.slice(0, 9)) % 31] === digits[9]
        );
      },
      confidence: "high",
      isStuck: true,
      hits: ["131052-308T", "My code is010594Y9032", "hetu 010594Y9032"],
      misses: ["131052-308U", "321052-308T"],
    },
    {
      id: "pii.national_id_pl",
      rule_id: "42363921c2ba4b0b6dbfc178101ca63f",
      name: "Polish PESEL",
      templates: ["###########"],
      isValid: (digits) =>
        isDay(Number(digits.slice(2, 4)) % 20, Number(digits.slice(4, 6))) &&
        weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0,
      context: ["pesel", "identyfikacyjny", "polish", "national id", "tax id"],
      hits: ["My pesel is 44051401458.", '"pesel": "02070803628"'],
      misses: ["44051401458", "pesel 44051401459"],
    },
    {
      id: "pii.nip_pl",
      rule_id: "a0a2c4967f8cd32b8b63741ac762fba7",
      name: "Polish NIP",
      templates: ["##########", "###-###-##-##", "###-##-##-###"],
      isValid: (digits) => !isUniform(digits) && weighted(digits, [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 === Number(digits[9]),
      context: ["nip", "podatkow", "tax id", "vat"],
      hits: ["NIP 123-456-32-18", "NIP: 2234567895"],
      misses: ["2234567895", "NIP 123-456-32-19"],
    },
    {
      id: "pii.rodne_cislo_cz",
      rule_id: "e36bb86ba1f1ef199533c325c7c0e38e",
      name: "Czech or Slovak birth number",
      templates: ["######/####"],
      isValid: isRodneCislo,
      hits: ["736028/5163", "r.c. 780123/3000"],
      misses: ["736028/5164", "781323/3000"],
    },
    {
      id: "pii.tax_id_sk",
      rule_id: "b60a890d51c846ff4bbc8e8a8a40ea5d",
      name: "Czech or Slovak birth number in other forms, beside its name",
      templates: ["##########", "#########", "######/###"],
      isValid: (digits) => (digits.length === 9 ? Number(digits.slice(2, 4)) % 50 <= 12 : isRodneCislo(digits)),
      context: ["rodn", "birth number", "dic", "rc", "tax id"],
      hits: ["rodne cislo 7801233000", "rodné číslo: 536221/999"],
      misses: ["7801233000", "rodne cislo 7801233001"],
    },
    {
      id: "pii.tax_id_hu",
      rule_id: "6789da01fc29a97bf48c120a02c324dd",
      name: "Hungarian tax identification number",
      templates: ["##########"],
      isValid: (digits) => digits.startsWith("8") && weighted(digits, [1, 2, 3, 4, 5, 6, 7, 8, 9]) % 11 === Number(digits[9]),
      context: ["ado", "adoazonosito", "tax id", "hungarian", "tin"],
      hits: ["adoazonosito: 8071592153"],
      misses: ["8071592153", "adoazonosito 8071592154"],
    },
    {
      id: "pii.cnp_ro",
      rule_id: "8a6c7ac74f99f4d7040327fc1808688b",
      name: "Romanian personal numeric code (CNP)",
      templates: ["#############"],
      isValid: (digits) =>
        /^[1-9]/.test(digits) &&
        hasYearFirst(digits, 1) &&
        (weighted(digits, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11) % 10 === Number(digits[12]),
      context: ["cnp", "cod numeric", "numeric code"],
      hits: ["CNP 1800101221144"],
      misses: ["1800101221144", "CNP 1800101221145"],
    },
    {
      id: "pii.egn_bg",
      rule_id: "b53a70d1309277a63c1103e79b428bb8",
      name: "Bulgarian civil number (EGN)",
      templates: ["##########"],
      isValid: (digits) =>
        isDay(Number(digits.slice(2, 4)) % 20, Number(digits.slice(4, 6))) &&
        (weighted(digits, [2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11) % 10 === Number(digits[9]),
      context: ["egn", "егн", "bulgarian", "civil number", "tax id"],
      hits: ["EGN 7501010010"],
      misses: ["7501010010", "EGN 7501010011"],
    },
    {
      id: "pii.oib_hr",
      rule_id: "e923c7b767a7a74c4c7c44d132552487",
      name: "Croatian OIB",
      templates: ["###########", "AA###########"],
      isValid: (code) => /^(?:HR)?\d{11}$/.test(code) && mod11And10(code.slice(-11)),
      context: ["oib", "identifikacijski"],
      hits: ["OIB: 33392005961"],
      misses: ["33392005961", "OIB: 33392005962"],
    },
    {
      id: "pii.emso",
      rule_id: "a2bd0a3827803efbcf7eade7a21e1756",
      name: "Unique citizen number (EMSO, JMBG)",
      templates: ["#############"],
      isValid: isEmso,
      context: ["emso", "jmbg", "maticni"],
      hits: ["EMSO 0101006500006"],
      misses: ["0101006500006", "EMSO 0101006500007"],
    },
    {
      id: "pii.afm_gr",
      rule_id: "dbe72c7b15d2e4e422464f42798266ec",
      name: "Greek tax number (AFM)",
      templates: ["#########"],
      isValid: (digits) => !isUniform(digits) && (weighted(digits, [256, 128, 64, 32, 16, 8, 4, 2]) % 11) % 10 === Number(digits[8]),
      context: ["afm", "αφμ", "vat", "tax id", "greek"],
      hits: ["AFM 094259216"],
      misses: ["094259216", "AFM 094259217"],
    },
    {
      id: "pii.amka_gr",
      rule_id: "2d44d08425779b2cff9daf595ce5db99",
      name: "Greek social security number (AMKA)",
      templates: ["###########"],
      isValid: (digits) => hasDayFirst(digits) && luhn(digits),
      context: ["amka", "αμκα"],
      hits: ["AMKA 01013099997"],
      misses: ["01013099997", "AMKA 01013099998"],
    },
    {
      id: "pii.nif_pt",
      rule_id: "d5d36ca3400861b1576aac55c11f8ff7",
      name: "Portuguese NIF",
      templates: ["#########", "### ### ###"],
      isValid: (digits) =>
        /^[1-35689]/.test(digits) && ((11 - (weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11) % 10 === Number(digits[8]),
      context: ["nif", "contribuinte", "nipc"],
      hits: ["NIF 123456789", "contribuinte n. 501 442 600"],
      misses: ["123456789", "NIF 123456780"],
    },
    {
      id: "pii.pps_ie",
      rule_id: "39aa0ea772e33a0762c3efa46fbcd176",
      name: "Irish PPS number",
      templates: ["#######A", "#######AA"],
      isValid: isPps,
      context: ["pps", "ppsn", "public service"],
      hits: ["PPSN 1234567T", "pps number: 1234567FA"],
      misses: ["1234567T", "PPSN 1234567U"],
    },
    {
      id: "pii.isikukood_ee",
      rule_id: "3693c5acf5329f7d2b25018a83606964",
      name: "Estonian or Lithuanian personal code",
      templates: ["###########"],
      isValid: isBaltic,
      context: ["isikukood", "asmens kod", "personal code", "personal id", "tax id", "estonia", "lithuania"],
      hits: ["isikukood 37605030299", "asmens kodas: 33309240064"],
      misses: ["37605030299", "isikukood 37605030298"],
    },
    {
      id: "pii.personas_kods_lv",
      rule_id: "205a77a70bf60dc863952d5c16465421",
      name: "Latvian personal code",
      templates: ["######-#####", "###########"],
      isValid: (digits) => /^3[2-9]/.test(digits) || (hasDayFirst(digits) && /^.{6}[0-2]/.test(digits)),
      context: ["personas kod", "personal code", "latvia", "pk", "tax id"],
      hits: ["personas kods 161175-19997"],
      misses: ["161175-19997", "personas kods 161375-19997"],
    },
    {
      id: "pii.kennitala_is",
      rule_id: "98fb168b1d800db3f7226211ed0fdc34",
      name: "Icelandic kennitala",
      templates: ["######-####", "##########"],
      isValid: (digits) => isDay(Number(digits.slice(2, 4)), Number(digits.slice(0, 2)) % 40) && mod11(digits, [3, 2, 7, 6, 5, 4, 3, 2]),
      context: ["kennitala", "icelandic", "kt"],
      hits: ["kennitala 120174-3399"],
      misses: ["120174-3399", "kennitala 120174-3389"],
    },
    {
      id: "pii.snils_ru",
      rule_id: "003bc5e4d13740bc98327e63649450a4",
      name: "Russian SNILS",
      templates: ["###-###-### ##"],
      isValid: (digits) => (weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101) % 100 === Number(digits.slice(9)),
      hits: ["112-233-445 95"],
      misses: ["112-233-445 96"],
    },
    {
      id: "pii.inn_ru",
      rule_id: "1c873c2cc013de4877f4ec37e952258b",
      name: "Russian taxpayer number (INN)",
      templates: ["##########", "############"],
      isValid: (digits) =>
        digits.length === 10
          ? (weighted(digits, [2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11) % 10 === Number(digits[9])
          : (weighted(digits, [7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11) % 10 === Number(digits[10]) &&
            (weighted(digits, [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11) % 10 === Number(digits[11]),
      context: ["inn", "инн", "taxpayer"],
      hits: ["INN 7707083893", "inn: 500100732259"],
      misses: ["7707083893", "INN 7707083894"],
    },
    {
      id: "pii.rnokpp_ua",
      rule_id: "c10fecf847c7b4140fef33958d4879dd",
      name: "Ukrainian taxpayer number",
      templates: ["##########"],
      isValid: (digits) => !isUniform(digits) && (weighted(digits, [-1, 5, 7, 9, 4, 6, 10, 5, 7]) % 11) % 10 === Number(digits[9]),
      context: ["rnokpp", "ipn", "drfo", "ukrain", "рнокпп", "іпн"],
      hits: ["RNOKPP 1759013776"],
      misses: ["1759013776", "RNOKPP 1759013777"],
    },
    {
      id: "pii.tckn_tr",
      rule_id: "3599f574167a293df9c3ceda9efae711",
      name: "Turkish identification number",
      templates: ["###########"],
      isValid: (digits) => {
        const odd = weighted(digits, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
        const even = weighted(digits, [0, 1, 0, 1, 0, 1, 0, 1]);
        if (digits[0] === "0" || (odd * 7 - even + 100) % 10 !== Number(digits[9])) return false;
        return weighted(digits, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]) % 10 === Number(digits[10]);
      },
      // One in a hundred random numbers of eleven digits is valid.
      enabled: false,
      hits: ["10000000146", "TC kimlik no: 36493665440"],
      misses: ["10000000147", "00000000146"],
    },
  ],
);
