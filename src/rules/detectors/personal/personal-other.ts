import { isUniform, weighted } from "#rules/detectors/checks/check-digits.ts";
import { luhn } from "#rules/detectors/checks/checks.ts";
import { codeDetectors } from "./code-detector.ts";
import { groupedCodes, groupedNumbers, MIXED_CODES, plainCodes, platesOfAnyForm } from "./code-forms.ts";

const WORDS_OF_PASSPORTS = [
  "passport",
  "passeport",
  "reisepass",
  "paspoort",
  "passnummer",
  "passnr",
  "pass nr",
  "passaport",
  "pasaport",
  "paszport",
  "pasport",
  "pass no",
  "travel document",
  "útlevél",
  "διαβατήριο",
  "паспорт",
  "여권",
  "旅券",
  "パスポート",
  "护照",
  "護照",
  "جواز",
  "דרכון",
  "ho chieu",
];
const WORDS_OF_LICENCES = [
  "driver",
  "driving",
  "licence",
  "license",
  "fuhrerschein",
  "patente",
  "permis",
  "rijbewijs",
  "carnet de conducir",
  "dl no",
  "dln",
  "führerschein",
  "fahrerlaubnis",
  "permiso de conducir",
  "prawo jazdy",
  "körkort",
  "ajokortti",
  "운전면허",
  "運転免許",
];
const WORDS_OF_PLATES = [
  "plate",
  "registration",
  "kennzeichen",
  "vehicle",
  "targa",
  "immatriculation",
  "vrn",
  "car reg",
  "reg no",
  "nummernschild",
  "matricula",
  "placa",
  "plaka",
  "kenteken",
  "rejestracyjn",
  "number plate",
  "nomor polisi",
  "tablica",
  "rendszam",
  "spz",
  "рег. номер",
  "госномер",
  "车牌",
  "ナンバープレート",
  "차량번호",
];

const letters = (count: number): string => "A".repeat(count);
const digits = (count: number): string => "#".repeat(count);

/** Letters, then digits: the form of passports and licences nearly everywhere. */
const lettersAndDigits = (letterCounts: readonly number[], digitCounts: readonly number[]): readonly string[] =>
  letterCounts.flatMap((before) => digitCounts.map((after) => letters(before) + digits(after)));

/** Germany: the district, one or two letters, and up to four digits. */
const GERMAN_PLATES = ["  ", "- ", "--"].flatMap(([one, other]) =>
  [1, 2, 3].flatMap((district) =>
    [1, 2].flatMap((middle) =>
      ["#", "##", "###", "####", "##A", "###A", "####A"].map((number) => `${letters(district)}${one}${letters(middle)}${other}${number}`),
    ),
  ),
);
/** A letter, and then eight characters, up to two of which are letters: since 2007, the office and a random serial. */
const GERMAN_PASSPORTS = Array.from({ length: 8 }, (_, one) =>
  Array.from({ length: 8 - one }, (_, more) => {
    const places = Array.from("########");
    places[one] = "A";
    places[one + more] = "A";
    return `A${places.join("")}`;
  }),
).flat();
/** Great Britain: formats of 2001, 1983 and 1963. */
const BRITISH_PLATES = [
  "AA##~AAA",
  "AA##AAA",
  ...["A#", "A##", "A###"].flatMap((front) => [`${front} AAA`, `${front}AAA`, `AAA ${front.slice(1)}A`]),
];

/** Plates of other countries, from Albania to Turkey. */
const PLATES = [
  ...["AAA-###AA", "AAA ###AA", "AAA###AA", "AA-###-AA", "AA ### AA", "AA ###AA", "AA###AA", "AA####AA", "AA-####-AA", "AA #### AA"],
  ...["#### AAA", "####AAA", "####-AAA", "AAA ####", "AAA####", "AAA-####", "AAA ###", "AAA###", "AAA-###", "AAA##A", "AAA ##A"],
  ...["AAA#A##", "AAA-#A##", "AAA #A##", "#A# ####", "#A#####", "#AA ####", "#AA####", "##-AA-##", "AA-##-##", "##-##-AA", "AA-##-AA"],
  ...[
    "##AA##",
    "AA##AA",
    "AA####",
    "AA ##-##",
    "## AA ##",
    "AA ## ##",
    "##AAA#",
    "##-AAA-#",
    "#-AAA-##",
    "AA-###-A",
    "A-###-AA",
    "AA ###A",
  ],
  ...[
    "AA##AA####",
    "AA## AA ####",
    "AA ## AA ####",
    "AA-##-AA-####",
    "AA##A####",
    "AA ## A ####",
    "AA-##-A-####",
    "##AA####A",
    "## AA #### A",
  ],
  ...[
    "##A####",
    "## A ####",
    "##AA####",
    "## AA ####",
    "##AA###",
    "## AA ###",
    "##AAA##",
    "## AAA ##",
    "##AAA###",
    "## AAA ###",
    "##A#####",
  ],
  ...["A####AA", "A #### AA", "A####AAA", "A #### AAA", "A###AA##", "A###AA###", "AA ###", "AA ####", "AA ####A", "AA #####", "AA#####"],
  ...[
    "AA-####",
    "AA-#####",
    "A #####",
    "A-####-AA",
    "##-####",
    "##-###-##",
    "###-##-###",
    "AA A ###",
    "AA ####-#",
    "#-AAA-###",
    "AAA ###A",
  ],
];

/** Germany: a letter, eight digits, and a check digit over the letter as two digits (§ 290 SGB V). */
function isKvnr(code: string): boolean {
  const number = String(code.charCodeAt(0) - 64).padStart(2, "0") + code.slice(1);
  const sum = [...number.slice(0, 10)].reduce((all, digit, place) => {
    const product = Number(digit) * (place % 2 === 0 ? 1 : 2);
    return all + (product > 9 ? product - 9 : product);
  }, 0);
  return sum % 10 === Number(code[9]);
}

/** Two letters, then six digits and a check digit over them. */
const isDea = (code: string): boolean => {
  const number = code.slice(2);
  return /^[ABCDEFGHJKLMPRSTUX]/.test(code) && weighted(number, [1, 2, 1, 2, 1, 2]) % 10 === Number(number[6]) && !isUniform(number);
};

const isNhs = (number: string): boolean =>
  !isUniform(number) && (11 - (weighted(number, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11 === Number(number[9]);

/** Five letters of the surname, the birth date with 50 added to a woman's month, two initials, and three more. */
const isUkLicence = (code: string): boolean =>
  /^[A-Z]{1,5}9{0,4}\d[0156]\d[0-3]\d\d[A-Z9]{2}\d[A-Z]{2}$/.test(code) && Number(code.slice(6, 8)) % 50 <= 12;

export const OTHER_PERSONAL_DETECTORS = [
  ...codeDetectors(
    "pii",
    ["passport"],
    [
      {
        id: "pii.passport",
        rule_id: "2140edfcb065640fa0ef0e31b8f66b0a",
        name: "Passport number, beside its name",
        templates: [
          ...lettersAndDigits([0], [7, 8, 9]),
          ...lettersAndDigits([1], [5]),
          ...lettersAndDigits([1, 2, 3], [6, 7, 8]),
          ...[
            "A #######",
            "AA #######",
            "A ########",
            "A-#######",
            "A########A",
            "A#####A##",
            "AA#####AA",
            "A###A####",
            "AA#A#####",
            "A#A#A#A#A",
            "A####A##",
            ...GERMAN_PASSPORTS,
            "AA####A#*",
            "A######AA",
            "AAA######",
          ],
        ],
        isValid: (code) => (code.match(/\d/g)?.length ?? 0) >= 4 && !isUniform(code),
        context: WORDS_OF_PASSPORTS,
        isStuck: true,
        hits: [
          "passport 912803456",
          "mypassportnumberis912803456",
          "Passport No: A1234567",
          "Reisepass Nr. P 1630837",
          "Reisepass C01X00T47",
          "Passport: CZ6311T03",
          "passportNumber: GA302922",
          "여권번호는 M789C1234",
        ],
        misses: ["912803456", "A1234567", "passport 99999999"],
      },
    ],
  ),
  ...codeDetectors(
    "pii",
    ["driving-licence"],
    [
      {
        id: "pii.driver_licence_uk",
        rule_id: "8ecd398ee170aa7c3d70798f14eca648",
        name: "UK driving licence number",
        templates: ["AAAAA######AA*AA", "AAAA#######AA*AA"],
        isValid: isUkLicence,
        hits: ["MORGA657054SM9IJ"],
        misses: ["MORGA657954SM9IJ", "MORGA697054SM9IJ"],
      },
      {
        id: "pii.driver_licence",
        rule_id: "392906272708ae496ff431f576819a5a",
        name: "Driving licence number, beside its name",
        templates: () => [
          ...plainCodes(),
          ...groupedNumbers(),
          ...groupedCodes(),
          ...MIXED_CODES,
          ...lettersAndDigits([2], [3]),
          // Great Britain, Germany, France, and others that make the number from the name or at random.
          ...["AAAAA######AA*AA", "A##******#*", "##AA#####", "###AA####", "########AAAA", "##AAA#####", "AAA#####***", "AAA##*******"],
          ...["A##A##A##A", "A#A##A###A", "A#A###A##A", "A######A", "AAA*********"],
          ...["AA## ###########", "AA##-###########", "AA-#############", "##-##-######-##", "##-AA-######", "##.##.###.###-#"],
          ...["A ### ### ### ###", "A-###-###-###-###", "A#### ##### #####", "A###-###-##-###-#", "A###-####-####-##", "AA-###### #"],
        ],
        isValid: (code) => !isUniform(code),
        context: WORDS_OF_LICENCES,
        enabled: false,
        hits: ["driver license H12234567", "Fuhrerschein BO12345678A", "Führerscheinnummer: BO12345678A", "Fahrerlaubnis GE123456780"],
        misses: ["H12234567", "driver license 88888888"],
      },
      {
        id: "pii.vehicle_plate",
        rule_id: "b76d99cad3a4ad9cb07dcde2fde57aad",
        name: "Vehicle registration plate, beside its name",
        // With spaces, words in lower case would look like parts of one.
        templates: [...GERMAN_PLATES, ...BRITISH_PLATES, ...PLATES].filter((template) => !template.includes(" ")),
        isValid: () => true,
        context: WORDS_OF_PLATES,
        enabled: false,
        hits: ["number plate AB51 ABC", "Kennzeichen: HH-AB-1234", '"vehicle":"ab123cd"'],
        misses: ["AB51 ABC"],
      },
      {
        id: "pii.vehicle_plate_other",
        rule_id: "4c8e1f73a95b4d06b2d7e3f8160a9c54",
        name: "Vehicle registration plate of any form, beside its name",
        templates: platesOfAnyForm,
        isValid: (code) => /\d/.test(code) && /[A-Z]/.test(code),
        context: WORDS_OF_PLATES,
        isUpperCase: true,
        enabled: false,
        hits: [
          "Kennzeichen: B AB 1234",
          "car reg is A123 BCD",
          "plate no. 191-MH-4021",
          "vehicle DL 9C AB 2187",
          "Kennzeichen ZH 482913",
          "licence plate: BA-552HW",
        ],
        misses: ["191-MH-4021", "plate 12ab345 of", "plate 123456"],
      },
    ],
  ),
  ...codeDetectors(
    "pii",
    ["health"],
    [
      {
        id: "pii.nhs_uk",
        rule_id: "6fab185a2c79fbd6c66773f45143cda8",
        name: "UK NHS number",
        templates: ["### ### ####", "###-###-####", "##########"],
        isValid: isNhs,
        context: ["nhs", "national health", "patient"],
        hits: ["NHS 943 476 5919", "nhs number: 401-023-2137"],
        misses: ["943 476 5919", "NHS 943 476 5918"],
      },
      {
        id: "pii.mbi_us",
        rule_id: "13bba8954ead6ebaf336d422125c84e4",
        name: "US Medicare beneficiary identifier",
        templates: ["#A*#-A*#-AA##", "#A*#A*#AA##"],
        isValid: (code) =>
          /^[1-9][AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d[AC-HJKMNP-RT-Y][AC-HJKMNP-RT-Y0-9]\d[AC-HJKMNP-RT-Y]{2}\d{2}$/.test(code),
        sureBeside: ["mbi", "medicare", "beneficiary"],
        hits: ["1EG4-TE5-MK73", "1EG4TE5MK73"],
        misses: ["0EG4-TE5-MK73", "1SG4-TE5-MK73"],
      },
      {
        id: "pii.kvnr_de",
        rule_id: "82521d2df61e2a3521e418911ebfa2a7",
        name: "German health insurance number",
        templates: ["A#########"],
        isValid: isKvnr,
        context: ["krankenversicher", "versichertennummer", "kvnr", "krankenkasse", "health insurance", "egk"],
        hits: ["KVNR A123456780"],
        misses: ["A123456780", "KVNR A123456781"],
      },
      {
        id: "pii.lanr_de",
        rule_id: "9d852917c63f45aabb2249cccc0faec8",
        name: "German physician or practice number",
        templates: ["#########"],
        isValid: (number) => !isUniform(number),
        context: ["lanr", "bsnr", "arztnummer", "betriebsstatte", "betriebsstaettennummer", "betriebsstätte"],
        enabled: false,
        hits: ["BSNR 021234568", "Betriebsstättennummer: 021234568"],
        misses: ["021234568", "BSNR 000000000"],
      },
      {
        id: "pii.npi_us",
        rule_id: "91a7ef7024c8323a5a4b4a172f1d8b4e",
        name: "US national provider identifier",
        templates: ["##########"],
        isValid: (number) => /^[12]/.test(number) && luhn(`80840${number}`),
        context: ["npi", "provider identifier"],
        enabled: false,
        hits: ["NPI 1234567893"],
        misses: ["1234567893", "NPI 1234567894"],
      },
      {
        id: "pii.dea_us",
        rule_id: "089b90197c886969099e16beb02bd134",
        name: "US DEA registration number",
        templates: ["AA#######"],
        isValid: isDea,
        context: ["dea", "prescri"],
        hits: ["DEA AB1234563"],
        misses: ["AB1234563", "DEA AB1234564"],
      },
      {
        id: "pii.medicare_au",
        rule_id: "ba70bbc9b66144a5ef057b5192011888",
        name: "Australian Medicare number",
        templates: ["#### ##### #", "##########", "####-#####-#", "###########", "#### ##### ##"],
        isValid: (number) => /^[2-6]/.test(number) && weighted(number, [1, 3, 7, 9, 1, 3, 7, 9]) % 10 === Number(number[8]),
        context: ["medicare"],
        hits: ["medicare 2123 45670 1"],
        misses: ["2123 45670 1", "medicare 2123 45671 1"],
      },
    ],
  ),
];
