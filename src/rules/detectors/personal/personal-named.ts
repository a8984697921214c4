import { once } from "#kernel/once.ts";
import { isUniform } from "#rules/detectors/checks/check-digits.ts";
import { codeDetectors } from "./code-detector.ts";
import { groupedCodes, groupedNumbers, MIXED_CODES, plainCodes } from "./code-forms.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";

/** The forms of any country. */
const anyForm = once((): readonly string[] => [...plainCodes(), ...groupedNumbers(), ...groupedCodes(), ...MIXED_CODES]);
const LONG: readonly string[] = [16, 17, 18, 20].map((count) => "#".repeat(count));

/** Numbers of one repeated digit are not issued; among letters, a few equal digits may be valid. */
const isGiven = (code: string): boolean => {
  const digits = code.replace(/\D/g, "");
  return digits.length >= 3 && !(isUniform(digits) && (digits.length >= 6 || digits === code));
};

/** Numbers of countries without a row or without a check digit: found only by the words near them. */
export const NAMED_DETECTORS: readonly Detector[] = [
  ...codeDetectors(
    "pii",
    ["tax-id"],
    [
      {
        id: "pii.tax_id_other",
        rule_id: "5b0ed1cf8f0948a5a1f0a35b8b63d2c7",
        name: "Tax number of any form, beside its name",
        templates: () => [...anyForm(), ...LONG],
        isValid: isGiven,
        context: [
          ...["tax id", "tax number", "tax no", "tax code", "tax identif", "tax reference", "tax registration", "taxpayer", "fiscal id"],
          ...["tin", "nif", "nit", "rnc", "ruc", "rut", "rfc", "utr", "npwp", "kra pin", "vkn", "edb", "pib", "nipt", "mst", "nrt", "dic"],
          ...[
            "contribuyente",
            "contribuinte",
            "identificacion fiscal",
            "identificacion tributaria",
            "unico tributario",
            "registre tributari",
          ],
          ...["identification fiscale", "immatriculation fiscale", "matricule fiscal", "codice fiscale", "cod fiscal", "numero fiscal"],
          ...["steuernummer", "steuer nr", "steuernr", "st. nr", "steuerident", "vergi", "adoszam", "veronumero", "porezni", "poreski"],
          ...[
            "danove identif",
            "danove cislo",
            "даночен",
            "едб",
            "налогоплат",
            "платника",
            "инн",
            "φορολογικου",
            "ma so thue",
            "税号",
            "납세",
          ],
        ],
        enabled: false,
        hits: [
          "UTR 1955839661",
          "tax id AAAAA1111A",
          "RUC 2660-3",
          "Steuernummer: 181/815/08155",
          "tax id C0000803561",
          "RFC GODE 561231 GR8",
        ],
        misses: ["1955839661", "tax id 000000000", "tax 12345"],
      },
    ],
  ),
  ...codeDetectors(
    "pii",
    ["national-id"],
    [
      {
        id: "pii.national_id_other",
        rule_id: "93c7f10e2b5d4d0e8a6652f3e1b9c408",
        name: "Identity number of any form, beside its name",
        templates: () => [...anyForm(), ...LONG],
        isValid: isGiven,
        context: [
          ...[
            "national id",
            "national identity",
            "national identif",
            "national number",
            "identity card",
            "identity number",
            "identity document",
          ],
          ...["identity code", "id card", "id number", "id no", "citizen", "civil id", "civil number", "personal id", "personal number"],
          ...["personal code", "personal identif", "identification card", "voter id", "residen", "residence permit", "social security"],
          ...[
            "social insurance",
            "seguridad social",
            "securite sociale",
            "seguro social",
            "cedula",
            "documento de identidad",
            "numero de identidad",
          ],
          ...["documento nacional", "carte d'identite", "carte nationale", "identite nationale", "cartao de cidadao", "cartao do cidadao"],
          ...["dni", "cni", "cui", "dui", "dpi", "nin", "nid", "nic", "cnic", "nss", "nuss", "idnp", "embg", "curp", "pesel", "ghana card"],
          ...["fodselsnummer", "personnummer", "personalausweis", "dowod osobisty", "identiteitskaart", "rijksregister", "osobni cislo"],
          ...["کد ملی", "کدملی", "الهوية", "الرقم الوطني", "بطاقة", "身份证", "身分證", "личный номер", "удостоверен", "лнч"],
        ],
        enabled: false,
        hits: ["national id 10117410-2", "Cédula 001-1391820-5", "DNI 20.123.456", "Ghana Card GHA-123456789-0", "کد ملی 0499370899"],
        misses: ["10117410-2", "national id 000000000"],
      },
      {
        id: "pii.health_id_other",
        rule_id: "c8f52b6de1974fa2bd0b6a0f4d3e7190",
        name: "Health or insurance number of any form, beside its name",
        templates: () => [...anyForm(), ...LONG, "AAAA #### ####", "#### ### ### AA", "#########-##A*"],
        isValid: isGiven,
        context: [
          ...["health", "insurance number", "medicaid"],
          ...[
            "medical record",
            "mrn",
            "patient id",
            "patient number",
            "chart number",
            "ehic",
            "philhealth",
            "nhi",
            "chi number",
            "ohip",
            "ramq",
          ],
          ...[
            "assurance maladie",
            "krankenversicher",
            "versichertennummer",
            "tessera sanitaria",
            "cartao sus",
            "cartao nacional de saude",
            "cns",
          ],
        ],
        enabled: false,
        hits: ["OHIP 5584-486-674-YM", "MRN: 00482913", "NHI ZAC5361", "health 12-345678901-4 PhilHealth 12-345678901-4"],
        misses: ["5584-486-674-YM", "MRN 000000"],
      },
    ],
  ),
  ...codeDetectors(
    "pii",
    ["passport"],
    [
      {
        id: "pii.passport_other",
        rule_id: "e41a7c0f92d84d63b5c86b7f0ad31e58",
        name: "Passport number of a rarer form, beside its name",
        // Random serials of letters and digits, in France with the letters third, and long ones without letters.
        templates: [
          ...["A*******", "##AA#####", "##########", "###########", "## ## ######", "#### ######", "## #######", "AAA#######", "AA#####"],
          ...["A##AA####", "AA-######", "AA-#######", "A######A", "A#######A", "AA######A", "#########A", "AAA#####", "#AA######"],
          ...["########A", "A#########", "A********", "######"],
        ],
        // linear: pumped
        isValid: (code) => /\d.*\d.*\d/.test(code) && !isUniform(code),
        context: ["passport", "passeport", "pasaporte", "passaporto", "passaporte", "reisepass", "paspoort", "паспорт", "travel document"],
        enabled: false,
        hits: ["passport JC4E7L2H", "passeport 17AB12345", "паспорт 45 04 123456", "pasaporte 14876543210"],
        misses: ["JC4E7L2H", "passport number JCEHLABD"],
      },
    ],
  ),
  ...codeDetectors(
    "pii",
    ["business"],
    [
      {
        id: "pii.business_id_other",
        rule_id: "0a6f3d92c7e5418fb1d45c20e98b73f6",
        name: "Number of a company of any form, beside its name",
        templates: () => [...anyForm(), "AAA ####", "AAA #####", "AAA ######", "### ### ### #####", "#####.###", "###.###.####"],
        isValid: isGiven,
        context: [
          ...[
            "company number",
            "company no",
            "company id",
            "company registration",
            "business id",
            "business number",
            "business registration",
          ],
          ...[
            "enterprise number",
            "enterprise id",
            "employer id",
            "organisation number",
            "organization number",
            "corporate number",
            "trade register",
          ],
          ...[
            "organisasjonsnummer",
            "organisationsnummer",
            "orgnr",
            "org nr",
            "acn",
            "cvr",
            "brn",
            "ubn",
            "crn",
            "gst",
            "ico",
            "kvk",
            "siren",
          ],
          ...["siret", "rcs", "regon", "krs", "nipc", "idno", "ice", "cnpj", "y tunnus", "ondernemingsnummer", "handelsregister"],
          ...[
            "numero d'entreprise",
            "unternehmens",
            "registrul comert",
            "edrpou",
            "єдрпоу",
            "social credit",
            "信用代码",
            "法人番号",
            "統一編號",
            "사업자",
          ],
        ],
        enabled: false,
        hits: ["ACN 004 085 616", "SIRET 732 829 320 00074", "사업자등록번호 116-82-00276", "Company number 09876543", "KVK 24368412"],
        misses: ["004 085 616", "company number 00000000"],
      },
    ],
  ),
];
