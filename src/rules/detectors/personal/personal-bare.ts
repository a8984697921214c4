import { CARD_DETECTORS } from "./cards.ts";
import { isUniform, weighted } from "#rules/detectors/checks/check-digits.ts";
import { digitsOf, isCounting, luhn } from "#rules/detectors/checks/checks.ts";
import { codeDetectors, type CodeRow } from "./code-detector.ts";
import { BUSINESS_DETECTORS } from "./business.ts";
import { BARE_PHONE } from "./contact.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import { PERSONAL_DETECTORS } from "./personal.ts";
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
    // linear: pumped
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
  { of: "fin.card_maestro", rule_id: "f90bda29b2ac49ad626c079b46ac482f", hit: "6759649826438453", miss: "6759649826438454" },
  { of: "fin.card_domestic", rule_id: "85c0c57835f7bafbd7cb26c9c1d0a594", hit: "8209416730528718", miss: "8209416730528719" },
  { of: "fin.card_uatp", rule_id: "1e68603901f3d54fdec4e6fb0a2e5c14", hit: "122047193850629", miss: "122047193850620" },
  { of: "fin.card_jcb_other", rule_id: "e5b492d394b61095a41766e990ce85e6", hit: "180016070420458", miss: "180016070420459" },
  { of: "pii.ssn_us_labelled", rule_id: "52312fe19ac75febf19140f0750be441", hit: "822425228", miss: "900425228" },
  { of: "pii.itin_us_labelled", rule_id: "1e339241f74c34628cccf084233e6af1", hit: "911-701234", miss: "911-481234" },
  { of: "pii.ein_us", rule_id: "a73bf49d184caa2c7e0dc3a0d1df52bf", form: /-/, hit: "12-3456789", miss: "07-3456789" },
  { of: "pii.bsn_nl", rule_id: "ad370959e0538d01597422487187d48d", hit: "3410.83.124", miss: "3410.83.121" },
  { of: "pii.national_id_be", rule_id: "bb92f726c8b8d49829f000df1fb85b43", hit: "93.05.18-223.61", miss: "93.05.18-223.62" },
  { of: "pii.svnr_at", rule_id: "0151ecb9f23d644a647404bf1ba685d9", hit: "1237 010180", miss: "1238 010180" },
  { of: "pii.tax_id_sk", rule_id: "369aac1dd4b138f92a86b0452ce55a2d", form: /^\d{10}$/, hit: "7801233000", miss: "7801233001" },
  { of: "pii.tax_id_hu", rule_id: "01ba176c8d9eb7f7148841d3671c138e", hit: "8071592153", miss: "8071592154" },
  { of: "pii.cnp_ro", rule_id: "cb76f0162e6af3d64125b8c34c5e22ed", hit: "1800101221144", miss: "1800101221145" },
  { of: "pii.egn_bg", rule_id: "8a19ae66a34c5d8e88e2065c38e0a67c", hit: "7501010010", miss: "7501010011" },
  { of: "pii.oib_hr", rule_id: "901dc49601a5c337f388b16b28c005bc", hit: "06964253656", miss: "06964253654" },
  { of: "pii.emso", rule_id: "e7f9d855372b53d63eeee08087c41d05", hit: "0101006500006", miss: "0101006500007" },
  { of: "pii.afm_gr", rule_id: "54e0c872c035c098735d6490ea6c7d1a", hit: "918357961", miss: "918357968" },
  { of: "pii.amka_gr", rule_id: "cf6e8f7ce4df2e74c9f037c7d288a53c", hit: "24128162278", miss: "24128162279" },
  { of: "pii.nif_pt", rule_id: "557ee506d154c103408f70c3e6a8d713", hit: "201 761 513", miss: "201 761 512" },
  { of: "pii.pps_ie", rule_id: "485627af688c529e20b1bfb88799d9b6", hit: "1234567T", miss: "1234567U" },
  { of: "pii.isikukood_ee", rule_id: "e7ae3e5ec1d669a8c13649c6009ec32a", hit: "37605030299", miss: "37605030298" },
  { of: "pii.personas_kods_lv", rule_id: "10d58a7df7299715bae1de8dac140497", form: /-/, hit: "161175-19997", miss: "161375-19997" },
  { of: "pii.cpr_dk", rule_id: "e9c0671db52c588080a2d4d8d95dcde5", form: /-/, hit: "211062-5629", miss: "991362-5629" },
  { of: "pii.kennitala_is", rule_id: "ddd8925b2e591627d51f35c0a4a2cc3e", hit: "480721-1019", miss: "480721-1029" },
  { of: "pii.inn_ru", rule_id: "66f461cf8f7a97782c3715f0ce9ebe53", hit: "500100732259", miss: "500100732258" },
  { of: "pii.rnokpp_ua", rule_id: "a878e66c0d56638b5fac6a9f0ca99ff1", hit: "8932843190", miss: "8932843199" },
  { of: "pii.nip_pl", rule_id: "22be9ef6c41a91ac1ef8a52c0eae5aba", hit: "123-456-32-18", miss: "123-456-32-19" },
  { of: "pii.sin_ca", rule_id: "672972d3e6ca4fb54290f6c4ca8df9bb", hit: "130 692 544", miss: "130 692 545" },
  { of: "pii.cpf_br_plain", rule_id: "ba87e25035697cd0d7bf8d658535d1db", hit: "52998224725", miss: "52998224726" },
  { of: "pii.cnpj_br_plain", rule_id: "39deee0afc87d2a4f22d699ec5e65b97", hit: "05423994000172", miss: "05423994000173" },
  { of: "pii.cuit_ar_plain", rule_id: "81a2d0de3d5231e43ecc5357b201ab18", hit: "20123456786", miss: "20123456787" },
  { of: "pii.rut_cl_plain", rule_id: "af4e6e70bd6e14ebf655146ca9405687", hit: "12345678-5", miss: "12345678-6" },
  { of: "pii.nit_co", rule_id: "96d767d31b51d8ba26b8b1e8fc55a485", hit: "800.197.268-4", miss: "800.197.268-5" },
  { of: "pii.cedula_ec", rule_id: "927c52e82262d6519348af5b15275171", hit: "0647214287", miss: "0647214284" },
  { of: "pii.rfc_mx", rule_id: "9a51c525643ac657deb0a29fcd313a20", hit: "GODE561231GR8", miss: "GODE561331GR8" },
  { of: "pii.ruc_pe", rule_id: "ba7f4f25135e9e29e6ef51e030e2a965", hit: "20126602431", miss: "20126602434" },
  { of: "pii.ci_uy_plain", rule_id: "90fc56fbc33a449b46d1dd6cbf16f8a0", hit: "3423332-6", miss: "3423332-7" },
  { of: "pii.rif_ve", rule_id: "49fd1bd5084c3d48db897aea335fbdba", hit: "V-11470283-4", miss: "V-11470283-3" },
  { of: "pii.aadhaar_in_plain", rule_id: "fcd1ff992f43207d882591d828ef2e1a", hit: "234123412346", miss: "234123412347" },
  { of: "pii.my_number_jp", rule_id: "32c9d49da22055ee5d655003d1fe6722", hit: "1234 5678 9018", miss: "1234 5678 9019" },
  { of: "pii.hkid", rule_id: "384e987f99eca8f0d4e4bcb3135d459a", hit: "A123456(3)", miss: "A123456(4)" },
  { of: "pii.national_id_th_plain", rule_id: "812422917ba00370db4b2877a140e201", hit: "1101230000001", miss: "1101230000002" },
  { of: "pii.nik_id", rule_id: "95939b7ea129f987d98dec1577d53a55", hit: "3171235206870001", miss: "3171235213870001" },
  { of: "pii.mykad_my_plain", rule_id: "b9edb8a49433034ba5a2220fd75bd036", hit: "880523145677", miss: "881323145677" },
  { of: "pii.tin_ph", rule_id: "679ef0d8659ed43e93e9de413e4c137c", hit: "123-456-782-000", miss: "123-456-789-000" },
  { of: "pii.ird_nz", rule_id: "994e296c8468bcc3ff13599804a0b1ea", hit: "49-091-850", miss: "49-091-851" },
  { of: "pii.teudat_zehut_il", rule_id: "35cee96b4e8955517669d49a95663060", hit: "00170664-7", miss: "00170664-2" },
  { of: "pii.national_id_sa", rule_id: "e8c404801af5ed569378195b1c7ae578", hit: "1980073603", miss: "1980073601" },
  { of: "pii.national_id_eg", rule_id: "ddebadb1689c69159cad13384a09f89b", hit: "29001011234567", miss: "29013011234567" },
  { of: "pii.iin_kz", rule_id: "74187e9148efdfab3248e56bd05ff01c", hit: "800618186923", miss: "800618186926" },
  { of: "pii.nic_lk_new", rule_id: "3332a52fb220a865de992204ce8370c2", hit: "199931512253", miss: "199949912253" },
  { of: "pii.nhs_uk", rule_id: "084d4b7ab4dbdc15907c918e5c19e5df", hit: "943 476 5919", miss: "943 476 5918" },
  { of: "pii.npi_us", rule_id: "79cf369c0219573c5a6c472e63d31b09", hit: "1234567893", miss: "1234567894" },
  { of: "pii.medicare_au", rule_id: "20c7c92887811fd159d6eb389b77eb39", hit: "2123 45670 1", miss: "2123 45671 1" },
  { of: "pii.orgnr_se_plain", rule_id: "ec5360b1d86cead2861eee19e0744464", hit: "5567037485", miss: "5567037486" },
  { of: "fin.isin", rule_id: "02d1bf0102432e56643e766e50f28bc7", hit: "US0378331005", miss: "US0378331006" },
  {
    of: "fin.crypto_ethereum",
    rule_id: "7a8360f0c87bf903a6b8b91858a71ddc",
    hit: "0x52908400098527886E0F7030069857D2E4169EE7",
    miss: "0x0000000000000000000000000000000000000000",
  },
];

const BY_ID = new Map(
  [
    ...CARD_DETECTORS,
    ...FINANCIAL_DETECTORS,
    ...PERSONAL_DETECTORS,
    ...BUSINESS_DETECTORS,
    ...EUROPEAN_DETECTORS,
    ...WORLD_DETECTORS,
    ...OTHER_PERSONAL_DETECTORS,
  ].map((one) => [one.id, one]),
);

/** What people type where any number would do. */
const COUNTED = /^0?123456789$/;

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
    accepts: (text) => form?.test(text) !== false && accepts(text) && !COUNTED.test(text),
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

const INDIAN_STATES =
  "AN|AP|AR|AS|BR|CG|CH|DD|DL|DN|GA|GJ|HP|HR|JH|JK|KA|KL|LA|LD|MH|ML|MN|MP|MZ|NL|OD|OR|PB|PY|RJ|SK|TN|TR|TS|TG|UK|UP|WB";
const INDIAN_PLATE = new RegExp(`^(?:(?:${INDIAN_STATES})\\d{2}[A-Z]{1,2}|\\d{2}BH)\\d{4}[A-Z]{0,2}$`);

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
  ...bareForms("business", [
    {
      id: "pii.brn_kr_bare",
      rule_id: "d84fbcc738d50f2bb71d04fb91222d1a",
      name: "Korean business registration number, whatever stands beside it",
      templates: ["###-##-#####"],
      isValid: (code) =>
        (weighted(code, [1, 3, 7, 1, 3, 7, 1, 3, 5]) + Math.floor((Number(code[8]) * 5) / 10) + Number(code[9])) % 10 === 0,
      hits: ["116-82-00276"],
      misses: ["116-82-00277"],
    },
    {
      id: "pii.acn_au_bare",
      rule_id: "19e3245d5f346d7a44d2ee83f7712bbd",
      name: "Australian company number, whatever stands beside it",
      templates: ["### ### ###"],
      isValid: (code) => !isUniform(code) && (weighted(code, [8, 7, 6, 5, 4, 3, 2, 1]) + Number(code[8])) % 10 === 0,
      hits: ["004 085 616"],
      misses: ["004 085 617"],
    },
    {
      id: "pii.partita_iva_it_bare",
      rule_id: "b1e4bbce4013723efe131e129fbc5f32",
      name: "Italian VAT number, whatever stands beside it",
      templates: ["###########", "AA###########"],
      // Seven digits of the company, and the province of its office.
      isValid: (code) => /^(?:IT)?\d{7}(?:0\d[1-9]|0[1-9]0|100|12[01]|888|999)\d$/.test(code) && luhn(code.replace("IT", "")),
      hits: ["IT00743110157"],
      misses: ["IT00743110158", "DE00743110157"],
    },
    {
      id: "pii.steuernummer_de_bare",
      rule_id: "e37264e1a54ec44cf1669a84b3244fc8",
      name: "German tax number, whatever stands beside it",
      templates: ["##/###/#####", "###/####/####", "###/###/#####"],
      isValid: (code) => !isUniform(code),
      hits: ["21/815/08150", "133/8150/8159", "181/815/08155"],
      misses: ["21/815/0815", "00/000/00000"],
    },
  ]),
  ...bareForms("driving-licence", [
    {
      id: "pii.driver_licence_kr_bare",
      rule_id: "d001d4ac136de0417dde8be05271c06d",
      name: "Korean driving licence number, whatever stands beside it",
      // The office, the year, a serial and two check digits.
      templates: ["##-##-######-##"],
      isValid: (code) => /^(?:1[1-9]|2[0-8])/.test(code),
      hits: ["11-22-123456-78"],
      misses: ["41-22-123456-78"],
    },
    {
      id: "pii.driver_licence_it_bare",
      rule_id: "7e52d3906c4f4872cf719b5cb20206ed",
      name: "Italian driving licence number, whatever stands beside it",
      // Of the provinces until 2013, and of the state since.
      templates: ["AA#######A", "A#********"],
      // linear: pumped
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
      // With the year's letter in front, or behind. Of fewer digits it is seldom anything else where a space stands in it.
      templates: ["A###~AAA", "A###AAA", "AAA~###A", "AAA###A", "A# AAA", "A## AAA", "AAA #A", "AAA ##A"],
      // No year or place has the letters I, Q and Z.
      isValid: (code) => /^(?:[A-HJ-NP-TV-Y][1-9]\d{0,2}[A-HJ-PR-Y]{3}|[A-HJ-PR-Y]{3}[1-9]\d{0,2}[A-HJ-NP-TV-Y])$/.test(code),
      isUpperCase: true,
      hits: ["A123 BCD", "M456DEF", "ABC 123D", "DEF456G", "K1 ABC", "ABC 12D"],
      misses: ["a123 bcd", "A012 BCD", "I123 BCD", "ABC12D"],
    },
    {
      id: "pii.vehicle_plate_tr_bare",
      rule_id: "1364a2b25fa9c60ac6cff52131e860c8",
      name: "Turkish registration plate, whatever stands beside it",
      templates: [
        "## A ####",
        "## A #####",
        "## AA ###",
        "## AA ####",
        "## AAA ##",
        "## AAA ###",
        "##A####",
        "##AA###",
        "##AA####",
        "##AAA##",
        "##AAA###",
      ],
      // One of 81 provinces; the alphabet of plates has none of Q, W and X.
      isValid: (code) => /^(?:0[1-9]|[1-7]\d|8[01])[A-PR-VYZ]+\d+$/.test(code),
      isUpperCase: true,
      hits: ["34 AB 1234", "06 A 12345", "35ABC12"],
      misses: ["82 AB 1234", "34 ab 1234", "34 WX 1234"],
    },
    {
      id: "pii.vehicle_plate_in_bare",
      rule_id: "689aae93410c55d42666e08f09e2b3e5",
      name: "Indian registration plate, whatever stands beside it",
      templates: [
        "AA##A####",
        "AA##AA####",
        "AA ## A ####",
        "AA ## AA ####",
        "AA-##-A-####",
        "AA-##-AA-####",
        "##AA####A",
        "##AA####AA",
        "## AA #### A",
        "## AA #### AA",
      ],
      // The state and its district, or the year of the series of all states.
      isValid: (code) => INDIAN_PLATE.test(code),
      isUpperCase: true,
      hits: ["KA53ME3456", "MH 12 AB 1234", "DL-01-C-4321", "22BH6517A"],
      misses: ["ZZ53ME3456", "ka53me3456", "22BX6517A"],
    },
    {
      id: "pii.vehicle_plate_fr_bare",
      rule_id: "254b53ba324767acdab48ee1d2250479",
      name: "French or Italian registration plate, whatever stands beside it",
      templates: ["AA-###-AA", "AA ### AA", "AA###AA"],
      // Neither has letters that look like digits.
      isValid: (code) => /^[A-HJ-NPR-TV-Z]{2}\d{3}[A-HJ-NPR-TV-Z]{2}$/.test(code) && !/^..000/.test(code),
      isUpperCase: true,
      hits: ["AB-123-CD", "EX 442 RT", "FT592ZD"],
      misses: ["AB-000-CD", "ab-123-cd", "IO-123-CD"],
    },
    {
      id: "pii.vehicle_plate_es_bare",
      rule_id: "e541851e4a039075efe984cff29c4a7e",
      name: "Spanish registration plate, whatever stands beside it",
      templates: ["#### AAA", "####-AAA", "####AAA"],
      // No vowels, so that no words come of them.
      isValid: (code) => /^\d{4}[BCDFGHJKLMNPRSTVWXYZ]{3}$/.test(code),
      isUpperCase: true,
      hits: ["1234 BCD", "4821-KLM", "0021FGH"],
      misses: ["1234 ABC", "1234 bcd"],
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

/** Whatever nothing else is: letters and digits as most countries number their passports. */
const PASSPORT_FORMS = bareForms("passport", [
  {
    id: "pii.passport_bare",
    rule_id: "83ca800c47891700514e3b22844acb01",
    name: "Passport number of a common form, whatever stands beside it",
    // Letters, then digits, as most countries have it; France; and the letter behind as well, as in Singapore and the Philippines.
    templates: ["A#######", "A########", "AA######", "AA#######", "AAA######", "##AA#####", "A#######A", "A######AA"],
    // linear: pumped
    isValid: (code) => !/(\d)\1{5}/.test(code) && !isCounting(digitsOf(code)),
    isUpperCase: true,
    hits: ["A12803456", "CA128035", "17AB12345", "E2284561K"],
    misses: ["a12803456", "A128034", "ABCD128034", "A12345678", "K0123456"],
  },
]);

/**
 * Numbers without the word that says what they are: by their check digits, or by a form that little else has. Common enough in
 * other data to be off unless asked for.
 */
export const BARE_DETECTORS: readonly Detector[] = [...FORMS, ...BARE.map(bare), ...PASSPORT_FORMS, BARE_PHONE];
