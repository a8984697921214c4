import { hasYearFirst, isDay, isUniform, mod11, mod11Minus2, verhoeff, weighted } from "#rules/detectors/checks/check-digits.ts";
import { isPlaceholder, luhn } from "#rules/detectors/checks/checks.ts";
import { codeDetectors } from "./code-detector.ts";

/** Two check digits, each with weights for all digits before it. */
function isCpf(digits: string): boolean {
  const check = (weights: readonly number[]): number => ((weighted(digits, weights) * 10) % 11) % 10;
  return !isUniform(digits) && check(CPF_WEIGHTS.slice(1)) === Number(digits[9]) && check(CPF_WEIGHTS) === Number(digits[10]);
}

const CPF_WEIGHTS = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2];

const CNPJ_WEIGHTS = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

function isCnpj(digits: string): boolean {
  const check = (count: number): number => {
    const rest = weighted(digits, CNPJ_WEIGHTS.slice(13 - count)) % 11;
    return rest < 2 ? 0 : 11 - rest;
  };
  return !isUniform(digits) && check(12) === Number(digits[12]) && check(13) === Number(digits[13]);
}

/** Since July 2026 all but the check digits may be letters, which count as their ASCII code less that of zero. */
function isAlphanumericCnpj(code: string): boolean {
  const values = Array.from(code, (char) => char.charCodeAt(0) - 48);
  const check = (count: number): number => {
    const rest = CNPJ_WEIGHTS.slice(13 - count).reduce((sum, weight, place) => sum + weight * (values[place] ?? 0), 0) % 11;
    return rest < 2 ? 0 : 11 - rest;
  };
  return /[A-Z]/.test(code) && check(12) === values[12] && check(13) === values[13];
}

function isRut(code: string): boolean {
  const digits = code.slice(0, -1);
  let sum = 0;
  for (let i = 0; i < digits.length; i++) sum += Number(digits.at(-1 - i)) * (2 + (i % 6));
  return /^\d{7,8}[\dK]$/.test(code) && !isUniform(digits) && "0K987654321"[sum % 11] === code.at(-1);
}

const CURP_CHARS = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ";

function isCurp(code: string): boolean {
  if (!/^[A-Z][AEIOUX][A-Z]{2}\d{6}[HMX][A-Z]{5}[A-Z0-9]\d$/.test(code) || !hasYearFirst(code, 4)) return false;
  let sum = 0;
  for (let i = 0; i < 17; i++) sum += CURP_CHARS.indexOf(code[i] as string) * (18 - i);
  return (10 - (sum % 10)) % 10 === Number(code[17]);
}

/** Singapore: S and T for citizens, F and G for foreigners, M since 2022. */
function isNric(code: string): boolean {
  const [prefix = ""] = code;
  const sum = weighted(code.slice(1), [2, 7, 6, 5, 4, 3, 2]) + ("TG".includes(prefix) ? 4 : prefix === "M" ? 3 : 0);
  const letters = "ST".includes(prefix) ? "JZIHGFEDCBA" : prefix === "M" ? "KLJNPQRTUWX" : "XWUTRQPNMLK";
  if (!/^[STFGM]\d{7}[A-Z]$/.test(code)) return false;
  return letters[prefix === "M" ? 10 - (sum % 11) : sum % 11] === code[8];
}

const LETTERS_OF_TAIWAN = "ABCDEFGHJKLMNPQRSTUVXYWZIO";

function isTaiwanese(code: string): boolean {
  const area = LETTERS_OF_TAIWAN.indexOf(code[0] ?? "?") + 10;
  if (area < 10 || !/^.[1289AB]/.test(code)) return false;
  const own = code.slice(1).replace("A", "8").replace("B", "9");
  return (Math.floor(area / 10) + (area % 10) * 9 + weighted(own, [8, 7, 6, 5, 4, 3, 2, 1, 1])) % 10 === 0;
}

/** Hong Kong: one or two letters before the digits; a missing one counts as a space. */
function isHkid(code: string): boolean {
  const letters = code.length === 9 ? code.slice(0, 2) : ` ${code[0]}`;
  const sum = [...letters].reduce((all, char, i) => all + (char === " " ? 36 : char.charCodeAt(0) - 55) * (9 - i), 0);
  const check = (11 - ((sum + weighted(code.slice(-7), [7, 6, 5, 4, 3, 2])) % 11)) % 11;
  return (check === 10 ? "A" : String(check)) === code.at(-1);
}

/** Births since October 2020 are numbered at random; only the month, the day and the century are checked. */
const isRrn = (digits: string): boolean => hasYearFirst(digits) && /^.{6}[1-8]/.test(digits) && !isUniform(digits.slice(7));

/** Numbers issued before have a check digit, with another formula for foreigners. */
function isCheckedRrn(digits: string): boolean {
  if (!isRrn(digits)) return false;
  // Of this century, in whose second half nobody was born yet.
  const isSince = /[3478]/.test(digits[6] as string) && digits >= "2010" && digits < "50";
  const rest = weighted(digits, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11;
  const isForeign = (digits[6] as string) >= "5";
  return isSince || ((isForeign ? 13 : 11) - rest) % 10 === Number(digits[12]);
}

const isItin = (digits: string): boolean => ITIN_GROUP.test(digits) && !isUniform(digits);

const isCuit = (digits: string): boolean => /^(?:2[03457]|3[0345])/.test(digits) && mod11(digits, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]);

const isMyKad = (digits: string): boolean =>
  hasYearFirst(digits) && Number(digits.slice(6, 8)) > 0 && !["00", "17", "18", "19", "20"].includes(digits.slice(6, 8));

const isUruguayan = (digits: string): boolean =>
  !isUniform(digits) && (10 - (weighted(digits, [2, 9, 8, 7, 6, 3, 4]) % 10)) % 10 === Number(digits[7]);

/** Persons, foreigners, companies, passports and authorities, each with a value for its letter. */
function isRif(code: string): boolean {
  const letter = "VEJPG".indexOf(code[0] ?? "?");
  const sum = 4 * (letter + 1) + weighted(code.slice(1), [3, 2, 7, 6, 5, 4, 3, 2]);
  return letter >= 0 && "00987654321"[sum % 11] === code[9];
}

const isTfn = (digits: string): boolean =>
  !isUniform(digits) && weighted(digits, digits.length === 8 ? [10, 7, 8, 4, 6, 3, 5, 1] : [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0;

function isAbn(digits: string): boolean {
  const reduced = String(Number(digits[0]) - 1) + digits.slice(1);
  return digits[0] !== "0" && weighted(reduced, [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]) % 89 === 0;
}

function isIrd(digits: string): boolean {
  const number = digits.padStart(9, "0");
  if (Number(number) < 10_000_000 || Number(number) > 150_000_000) return false;
  const check = (weights: readonly number[]): number => (11 - (weighted(number, weights) % 11)) % 11;
  const first = check([3, 2, 7, 6, 5, 4, 3, 2]);
  return (first === 10 ? check([7, 4, 3, 2, 5, 2, 7, 6]) : first) === Number(number[8]);
}

const GSTIN_CHARS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

function isGstin(code: string): boolean {
  if (!/^[0-3]\d[A-Z]{5}\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]$/.test(code)) return false;
  let sum = 0;
  for (let i = 0; i < 14; i++) {
    const product = GSTIN_CHARS.indexOf(code[i] as string) * (i % 2 === 0 ? 1 : 2);
    sum += Math.floor(product / 36) + (product % 36);
  }
  return GSTIN_CHARS[(36 - (sum % 36)) % 36] === code[14];
}

/** The second digit of the area, 1 to 24 for provinces and 30 abroad, and a modulus of ten over doubled digits. */
const isCedula = (digits: string): boolean =>
  (Number(digits.slice(0, 2)) <= 24 || digits.startsWith("30")) && Number(digits[2]) < 6 && luhn(digits);

const ITIN_GROUP = /^9\d\d(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])/;
// Prefixes that the Internal Revenue Service has issued.
const EIN_PREFIX = /^(?:0[1-6]|1[0-6]|2[0-7]|3[0-9]|4[0-8]|5[0-9]|6[0-8]|7[1-7]|8[0-8]|9[0-58-9])/;

export const WORLD_DETECTORS = codeDetectors(
  "pii",
  ["national-id"],
  [
    {
      id: "pii.itin_us",
      rule_id: "b647b3bea47c1563e75b6a18a3bf0a8a",
      name: "US individual taxpayer number (ITIN)",
      templates: ["###-##-####"],
      isValid: isItin,
      hits: ["911-70-1234", "ITIN 999-88-7654"],
      misses: ["911-48-1234", "911-93-1234", "999-99-9999"],
    },
    {
      id: "pii.itin_us_labelled",
      rule_id: "2a50fe120de3d5f01f57c73abd0d49fa",
      name: "US individual taxpayer number in other forms, beside its name",
      templates: ["#########", "### ## ####", "###-######", "#####-####"],
      isValid: isItin,
      context: ["itin", "taxpayer", "tax id"],
      hits: ["ITIN 911701234", "itin: 911-701234"],
      misses: ["911701234", "ITIN 911481234"],
    },
    {
      id: "pii.ein_us",
      rule_id: "c530626d0611b029307f891cbc1add4a",
      name: "US employer identification number",
      templates: ["##-#######", "#########", "## #######"],
      isValid: (digits) => EIN_PREFIX.test(digits) && !isUniform(digits.slice(2)),
      context: ["ein", "employer identification", "fein", "federal tax", "tax id"],
      hits: ["EIN 12-3456789", "employer identification number: 041234567"],
      misses: ["12-3456789", "EIN 07-3456789"],
    },
    {
      id: "pii.sin_ca",
      rule_id: "1820a144f80157b76872bd71f68798b7",
      name: "Canadian social insurance number",
      templates: ["### ### ###", "###-###-###", "#########"],
      isValid: (digits) => /^[1-79]/.test(digits) && luhn(digits),
      context: ["sin", "social insurance", "assurance sociale", "nas"],
      hits: ["SIN 130 692 544", "social insurance number: 130-692-544"],
      misses: ["130 692 544", "SIN 130 692 545", "SIN 046 454 287"],
    },
    {
      id: "pii.cpf_br",
      rule_id: "b2e718b3dff6df9059b372ada0e54736",
      name: "Brazilian CPF",
      templates: ["###.###.###-##"],
      isValid: isCpf,
      confidence: "high",
      hits: ["529.982.247-25"],
      misses: ["529.982.247-26", "111.111.111-11"],
    },
    {
      id: "pii.cpf_br_plain",
      rule_id: "202f6bd68e85fd1b8b577c8f441e9a2c",
      name: "Brazilian CPF without dots, beside its name",
      templates: ["###########", "#########-##"],
      isValid: isCpf,
      context: ["cpf", "cadastro", "contribuinte", "tax id"],
      hits: ["CPF 52998224725"],
      misses: ["52998224725", "CPF 52998224726"],
    },
    {
      id: "pii.cnpj_br",
      rule_id: "43b1671c684c66f60eed1b79528aec81",
      name: "Brazilian CNPJ",
      templates: ["##.###.###/####-##"],
      isValid: isCnpj,
      enabled: false,
      hits: ["11.222.333/0001-81"],
      misses: ["11.222.333/0001-82"],
    },
    {
      id: "pii.cnpj_br_plain",
      rule_id: "a6d318f05b7e4b92916ce4d70f83b25a",
      name: "Brazilian CNPJ without separators, beside its name",
      templates: ["##############"],
      isValid: isCnpj,
      context: ["cnpj", "tax id", "inscricao"],
      enabled: false,
      hits: ["CNPJ 05423994000172"],
      misses: ["05423994000172", "CNPJ 05423994000173"],
    },
    {
      id: "pii.cnpj_br_alphanumeric",
      rule_id: "06757cd896bac15a02be8a3968bdd3a5",
      name: "Brazilian CNPJ with letters",
      // The branch still begins with digits.
      templates: ["**.***.***/##**-##", "********##**##"],
      isValid: isAlphanumericCnpj,
      enabled: false,
      hits: ["7KX31B9Q000184", "7K.X31.B9Q/0001-84", "12abc34501de35", "JB.4DL.7QL/248Z-50"],
      misses: ["7KX31B9Q000185", "7K.X31.B9Q/0001-85", "05423994000172"],
    },
    {
      id: "pii.cuit_ar",
      rule_id: "927a8490bf9fdec1bdd2f2ec94bba647",
      name: "Argentinian CUIT or CUIL",
      templates: ["##-########-#"],
      isValid: isCuit,
      hits: ["20-12345678-6"],
      misses: ["20-12345678-7", "10-12345678-6"],
    },
    {
      id: "pii.cuit_ar_plain",
      rule_id: "7d20c1a95be84f6d93f4716e0ab852cd",
      name: "Argentinian CUIT or CUIL without dashes, beside its name",
      templates: ["###########"],
      isValid: isCuit,
      context: ["cuit", "cuil"],
      hits: ["CUIT 20123456786"],
      misses: ["20123456786", "CUIT 20123456787"],
    },
    {
      id: "pii.rut_cl",
      rule_id: "03538a4bb8207d9d05bf5fb065f1d3f5",
      name: "Chilean RUT",
      templates: ["##.###.###-*", "#.###.###-*"],
      isValid: isRut,
      hits: ["12.345.678-5", "6.123.456-K"],
      misses: ["12.345.678-6"],
    },
    {
      id: "pii.rut_cl_plain",
      rule_id: "c49e7b3f10ad4d2e8b65f92d7038e1a6",
      name: "Chilean RUT without dots, beside its name",
      templates: ["########-*", "#######-*", "########*", "#######*"],
      isValid: isRut,
      context: ["rut", "rol unico", "r.u.t"],
      hits: ["RUT 12345678-5", '"rut":"6123456K"'],
      misses: ["12345678-5", "RUT 12345678-6"],
    },
    {
      id: "pii.nit_co",
      rule_id: "e18b624b85b0d9bbf3b26453a6019583",
      name: "Colombian NIT",
      templates: ["#########-#", "###.###.###-#"],
      isValid: (digits) => {
        const rest = weighted(digits, [41, 37, 29, 23, 19, 17, 13, 7, 3]) % 11;
        return (rest < 2 ? rest : 11 - rest) === Number(digits[9]);
      },
      context: ["nit", "colombia", "tributaria"],
      hits: ["NIT 800.197.268-4"],
      misses: ["800.197.268-4", "NIT 800.197.268-5"],
    },
    {
      id: "pii.curp_mx",
      rule_id: "ad96c2aa54f19477807bc21cdad0d036",
      name: "Mexican CURP",
      templates: ["AAAA######AAAAAA*#"],
      isValid: isCurp,
      confidence: "high",
      hits: ["HEGG560427MVZRRL04", "curp: badd110313hcmlns06"],
      misses: ["HEGG560427MVZRRL05", "HEGG561327MVZRRL04"],
    },
    {
      id: "pii.rfc_mx",
      rule_id: "5e0176d21cd7d1a20490d9beb9987ada",
      name: "Mexican RFC",
      templates: ["AAAA######***", "AAA######***"],
      isValid: (code) => hasYearFirst(code.slice(-9)),
      context: ["rfc", "contribuyente"],
      hits: ["RFC GODE561231GR8"],
      misses: ["GODE561231GR8", "RFC GODE561331GR8"],
    },
    {
      id: "pii.cedula_ec",
      rule_id: "96f8034e762ad5a77b3bc4529c2ec48c",
      name: "Ecuadorian identity card number",
      templates: ["##########"],
      isValid: isCedula,
      context: ["cedula", "ecuador"],
      hits: ["cedula 1710034065"],
      misses: ["1710034065", "cedula 1710034066"],
    },
    {
      id: "pii.aadhaar_in",
      rule_id: "96804909fb214e0ad04c8c7f6eff321f",
      name: "Indian Aadhaar number",
      templates: ["#### #### ####", "####-####-####"],
      isValid: (digits) => /^[2-9]/.test(digits) && !isUniform(digits) && verhoeff(digits),
      hits: ["2341 2341 2346", "2345-6789-0124"],
      misses: ["BG80 BNBG 9661 1020 3456 79", "2341 2341 2347", "1341 2341 2346", "2341 2341 2346 8812", "2341 2341 2346 1027 8812"],
    },
    {
      id: "pii.aadhaar_in_plain",
      rule_id: "e91dc276daf7c5d449ce8a4843bef973",
      name: "Indian Aadhaar number without spaces, beside its name",
      templates: ["############"],
      isValid: (digits) => /^[2-9]/.test(digits) && !isUniform(digits) && verhoeff(digits),
      context: ["aadhaar", "aadhar", "uidai"],
      hits: ["Aadhaar 234123412346"],
      misses: ["234123412346", "Aadhaar 234123412347"],
    },
    {
      id: "pii.pan_in",
      rule_id: "035869ae04bb28c12bd313bb13dac7e6",
      name: "Indian permanent account number (PAN)",
      templates: ["AAAAA####A"],
      // linear: pumped
      isValid: (code) => !/^(.)\1{4}/.test(code),
      context: ["pan", "permanent account", "income tax", "india"],
      hits: ["PAN ABCPD1234Z", "my pan: AAASA1111R"],
      misses: ["ABCPD1234Z", "PAN AAAAA1234Z"],
    },
    {
      id: "pii.voter_id_in",
      rule_id: "20fbe3be1a8a5f5bd3b527c07571b0a7",
      name: "Indian voter identity number",
      templates: ["AAA#######"],
      isValid: (code) => !isUniform(code.slice(3)),
      context: ["vote", "epic", "election"],
      hits: ["my voter: DBJ2289013"],
      misses: ["DBJ2289013", "voter DBJ0000000"],
    },
    {
      id: "pii.gstin_in",
      rule_id: "47eddde1e4c3421de573a730ea61a380",
      name: "Indian goods and services tax number (GSTIN)",
      templates: ["##AAAAA####A***"],
      isValid: isGstin,
      enabled: false,
      hits: ["27AAPFU0939F1ZV"],
      misses: ["27AAPFU0939F1ZW"],
    },
    {
      id: "pii.ric_cn",
      rule_id: "649401045fdccfa996d3f24d59bcea21",
      name: "Chinese resident identity number",
      templates: ["##################", "#################A"],
      isValid: (code) =>
        /^[1-9]\d{5}(?:19|20)/.test(code) && isDay(Number(code.slice(10, 12)), Number(code.slice(12, 14))) && mod11Minus2(code),
      confidence: "high",
      hits: ["11010519491231002X", "520323197806058856"],
      misses: ["110105194912310021", "110105194913310021"],
    },
    {
      id: "pii.ric_cn_old",
      rule_id: "e5c94a07d3b64fe9f6e862c3297979f4",
      name: "Chinese resident identity number of 15 digits, beside its name",
      templates: ["###############"],
      isValid: (digits) => /^[1-9]/.test(digits) && hasYearFirst(digits, 6),
      context: ["resident identity", "national id", "身份证", "shenfenzheng", "chinese id"],
      hits: ["national id 110101491001001"],
      misses: ["110101491001001", "national id 110101491301001"],
    },
    {
      id: "pii.rrn_kr",
      rule_id: "afab016c7df3a01b76ab00761ed89945",
      name: "Korean resident registration number",
      templates: ["######-#######"],
      isValid: isCheckedRrn,
      hits: ["960121-1021413", "201105-3637892"],
      misses: ["960121-1021414", "911324-5678901", "911124-9678901"],
    },
    {
      id: "pii.rrn_kr_plain",
      rule_id: "6613d717a59b070cd37e9715037b7a66",
      name: "Korean resident registration number in any form, beside its name",
      // Also numbers without a check digit, which persons born earlier got after October 2020.
      templates: ["#############", "######-#######"],
      isValid: isRrn,
      context: ["rrn", "resident registration", "jumin", "korea", "frn", "national id", "주민등록", "외국인등록"],
      hits: ["RRN 9111245678901", "His Korean FRN is 911124-5678901"],
      misses: ["9111245678901", "RRN 9113245678901"],
    },
    {
      id: "pii.my_number_jp",
      rule_id: "a8f5a483bc8f8560464aa48c69adcfc2",
      name: "Japanese individual number (My Number)",
      templates: ["############", "#### #### ####", "####-####-####"],
      isValid: (digits) => {
        const rest = weighted(digits, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
        return !isUniform(digits) && (rest <= 1 ? 0 : 11 - rest) === Number(digits[11]);
      },
      context: ["my number", "individual number", "kojin bango", "マイナンバー", "個人番号"],
      hits: ["My Number: 1234 5678 9018"],
      misses: ["123456789018", "My Number: 1234 5678 9019"],
    },
    {
      id: "pii.national_id_tw",
      rule_id: "c5232820ce233725c8328683f89c3721",
      name: "Taiwanese national identity number",
      templates: ["A#########", "AA########"],
      isValid: (code) => isTaiwanese(code) && !isPlaceholder(code.slice(1)),
      isUpperCase: true,
      hits: ["K101189797", "B176944193"],
      misses: ["A123456789", "K101189798", "A323456789"],
    },
    {
      id: "pii.hkid",
      rule_id: "09be84036a8af0501346b40b69cdad2b",
      name: "Hong Kong identity card number",
      templates: ["A######(*", "AA######(*", "A######*", "AA######*"],
      isValid: isHkid,
      context: ["hkid", "identity card", "hong kong", "身份證", "身份证"],
      hits: ["HKID A123456(3)", "hkid: AB9876543"],
      misses: ["A123456(3)", "HKID A123456(4)"],
    },
    {
      id: "pii.nric_sg",
      rule_id: "e92e11fd5e3a51dbf3424634d2f5de7a",
      name: "Singaporean NRIC or FIN",
      templates: ["A#######A"],
      isValid: isNric,
      confidence: "high",
      isUpperCase: true,
      hits: ["S2740116C", "T1234567J"],
      misses: ["S2740116D", "Z2740116C"],
    },
    {
      id: "pii.nric_sg_labelled",
      rule_id: "b203c4950bddd2c61d7e0d17d419c1d8",
      name: "Singaporean NRIC or FIN whose letter does not fit, beside its name",
      templates: ["A#######A"],
      isValid: (code) => /^[STFGM]/.test(code),
      context: ["nric", "fin"],
      enabled: false,
      hits: ["my fin is g3300299L"],
      misses: ["G3300299L", "fin Z3300299L"],
    },
    {
      id: "pii.national_id_th",
      rule_id: "c3c3c75b27f5485008cca4175e48f5e9",
      name: "Thai national identity number",
      templates: ["#-####-#####-##-#", "# #### ##### ## #"],
      isValid: isThai,
      hits: ["1-1012-30000-00-1"],
      misses: ["1-1012-30000-00-2"],
    },
    {
      id: "pii.national_id_th_plain",
      rule_id: "5c132b675d0710dc03911065afb3cd80",
      name: "Thai national identity number in one piece, beside its name",
      templates: ["#############"],
      isValid: isThai,
      context: ["thai", "national id", "citizen id", "ประจำตัวประชาชน"],
      hits: ["Thai national id 1101230000001"],
      misses: ["1101230000001", "Thai national id 1101230000002"],
    },
    {
      id: "pii.nik_id",
      rule_id: "2b3f8337c7770ba26ca0ecf0fef814ab",
      name: "Indonesian identity number (NIK)",
      templates: ["################"],
      isValid: (digits) => isDay(Number(digits.slice(8, 10)), Number(digits.slice(6, 8)) % 40) && digits.slice(12) !== "0000",
      context: ["nik", "ktp", "kependudukan"],
      hits: ["NIK 3171235206870001"],
      misses: ["3171235206870001", "NIK 3171235213870001"],
    },
    {
      id: "pii.mykad_my",
      rule_id: "3825322b67ce4cb7685344faf8f38c8d",
      name: "Malaysian identity card number (MyKad)",
      templates: ["######-##-####"],
      isValid: isMyKad,
      hits: ["880523-14-5677"],
      misses: ["881323-14-5677", "880523-00-5677"],
    },
    {
      id: "pii.mykad_my_plain",
      rule_id: "e1750b8d4c9f4e3a92d6870fb31c54ea",
      name: "Malaysian identity card number without dashes, beside its name",
      templates: ["############"],
      isValid: isMyKad,
      context: ["mykad", "kad pengenalan", "nric", "malaysia"],
      hits: ["MyKad 880523145677"],
      misses: ["880523145677", "MyKad 881323145677"],
    },
    {
      id: "pii.tin_ph",
      rule_id: "6f9c957b7e01343f93ede8ee27800f21",
      name: "Philippine taxpayer number",
      templates: ["###-###-###-###", "###-###-###", "#########", "############", "###-###-###-#####"],
      isValid: (digits) => !isUniform(digits.slice(0, 9)) && weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2]) % 11 === Number(digits[8]),
      context: ["tin", "taxpayer", "bir", "tax id"],
      hits: ["My TIN is 123-456-782-000", "BIR TIN: 000123456000"],
      misses: ["123-456-782-000", "TIN 000-000-000-000", "TIN 123-456-789-000"],
    },
    {
      id: "pii.tfn_au",
      rule_id: "b6b270743660d930514a28d8105f514a",
      name: "Australian tax file number",
      templates: ["### ### ###", "#########", "########", "## ### ###"],
      isValid: isTfn,
      context: ["tfn", "tax file", "tax id"],
      hits: ["TFN 876 543 210", "tax file number: 123456782"],
      misses: ["876 543 210", "TFN 876 543 211"],
    },
    {
      id: "pii.abn_au",
      rule_id: "c81e499796c968186e6076c8201ac4c9",
      name: "Australian business number",
      templates: ["## ### ### ###", "###########"],
      isValid: isAbn,
      context: ["abn", "business number", "australian business", "tax id"],
      enabled: false,
      hits: ["ABN 51 824 753 556"],
      misses: ["51 824 753 556", "ABN 51 824 753 557"],
    },
    {
      id: "pii.ird_nz",
      rule_id: "26a46e746323a9cfe5faeeb636a6c033",
      name: "New Zealand IRD number",
      templates: ["##-###-###", "###-###-###", "#########", "########"],
      isValid: isIrd,
      context: ["ird", "inland revenue"],
      hits: ["IRD 49-091-850"],
      misses: ["49-091-850", "IRD 49-091-851"],
    },
    {
      id: "pii.national_id_za",
      rule_id: "6ba0ee06d413d679e7c3b32a0c7b6c7f",
      name: "South African identity number",
      templates: ["#############", "###### #### ###"],
      // Citizens, residents and refugees; then 8 or 9, since 1986 for all.
      isValid: (digits) => hasYearFirst(digits) && /^.{10}[012][89]/.test(digits) && luhn(digits),
      hits: ["8001015009087", "9912316789285", "My South African ID is 9202201234088."],
      misses: ["8001015009088", "8013015009087", "1607014415112"],
    },
    {
      id: "pii.teudat_zehut_il",
      rule_id: "5220a008dbc4898d11c57295fe0a2441",
      name: "Israeli identity number",
      templates: ["#########", "########-#"],
      isValid: (digits) => !isUniform(digits) && luhn(digits),
      context: ["teudat", "zehut", "israel", "mispar", "תעודת זהות", "מספר זהות"],
      hits: ["teudat zehut 123456782"],
      misses: ["123456782", "teudat zehut 123456783"],
    },
    {
      id: "pii.emirates_id",
      rule_id: "2a42cd8b29381091692e1a9efb3eb190",
      name: "Emirates identity number",
      templates: ["###-####-#######-#", "###############"],
      isValid: (digits) => /^784(?:19|20)/.test(digits) && luhn(digits),
      confidence: "high",
      hits: ["784-1984-1234567-4"],
      misses: ["784-1984-1234567-5", "785-1984-1234567-4"],
    },
    {
      id: "pii.national_id_sa",
      rule_id: "10d66f08873e0a64f23468a7b7fa48cf",
      name: "Saudi national identity number",
      templates: ["##########"],
      isValid: (digits) => /^[12]/.test(digits) && luhn(digits),
      context: ["iqama", "saudi", "national id", "hawiya", "الهوية", "الإقامة"],
      hits: ["Iqama 2123456788"],
      misses: ["1010101013", "Iqama 2123456789"],
    },
    {
      id: "pii.national_id_eg",
      rule_id: "a13f5f81f3deb92cb8dec9c11df3603a",
      name: "Egyptian national identity number",
      templates: ["##############"],
      isValid: (digits) => /^[23]/.test(digits) && hasYearFirst(digits, 1) && /^(?:0[1-4]|1[1-9]|2[1-9]|3[1-5]|88)/.test(digits.slice(7)),
      context: ["egypt", "national id", "raqam", "القومي"],
      hits: ["national id 29001011234567"],
      misses: ["29001011234567", "national id 29013011234567"],
    },
    {
      id: "pii.iin_kz",
      rule_id: "fc553c908ca770df9b704d802cf5d080",
      name: "Kazakh individual number (IIN)",
      templates: ["############"],
      isValid: (digits) => {
        if (!hasYearFirst(digits) || !/^.{6}[0-6]/.test(digits)) return false;
        const first = weighted(digits, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) % 11;
        const check = first === 10 ? weighted(digits, [3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2]) % 11 : first;
        return check === Number(digits[11]);
      },
      context: ["iin", "kazakh", "иин", "жсн"],
      hits: ["IIN 900101300017"],
      misses: ["900101300017", "IIN 901301300017"],
    },
    {
      id: "pii.national_id_ly",
      rule_id: "c3a728e5b1944dc7d4c640a107575bd2",
      name: "Libyan national number",
      templates: ["############"],
      // Sex, the year of birth, and a serial.
      isValid: (digits) => /^[12](?:19|20)/.test(digits) && !isUniform(digits.slice(5)),
      context: ["libya", "national id", "national number", "الرقم الوطني"],
      hits: ["Libyan national number 119803455876"],
      misses: ["119803455876", "national id 319803455876"],
    },
    {
      id: "pii.ruc_pe",
      rule_id: "4ba4b0d4ebe13b4cb84ee711ad030e56",
      name: "Peruvian RUC",
      templates: ["###########"],
      isValid: (digits) =>
        /^(?:10|15|16|17|20)/.test(digits) && (11 - (weighted(digits, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 10 === Number(digits[10]),
      context: ["ruc", "sunat", "peru"],
      hits: ["RUC 20131312955"],
      misses: ["20131312955", "RUC 20131312956"],
    },
    {
      id: "pii.ci_uy",
      rule_id: "e40d7d0cca3230db5b599d72d7985406",
      name: "Uruguayan identity card number",
      templates: ["#.###.###-#"],
      isValid: isUruguayan,
      hits: ["3.423.332-6"],
      misses: ["3.423.332-7"],
    },
    {
      id: "pii.ci_uy_plain",
      rule_id: "2f6d94c0e5b8471b83c7a1d0649efb52",
      name: "Uruguayan identity card number without dots, beside its name",
      templates: ["#######-#", "########"],
      isValid: isUruguayan,
      context: ["cedula", "uruguay"],
      hits: ["cédula de identidad 3423332-6"],
      misses: ["3423332-6", "cédula 3423332-7"],
    },
    {
      id: "pii.cccd_vn",
      rule_id: "86b1e7d3f0294cb5a94d2f5c7083ea16",
      name: "Vietnamese citizen identity number",
      templates: ["############"],
      // A province, the century and sex, and the year of birth.
      isValid: (digits) => /^0(?:0[1-9]|[1-8]\d|9[0-6])[0-3]/.test(digits) && !isUniform(digits.slice(6)),
      context: ["cccd", "can cuoc", "cmnd", "vietnam", "citizen id"],
      hits: ["Số CCCD: 001099012345"],
      misses: ["001099012345", "CCCD 097099012345"],
    },
    {
      id: "pii.rif_ve",
      rule_id: "b0d25f7c68e14a39957b3ce1f84d6a02",
      name: "Venezuelan tax number (RIF)",
      templates: ["A-########-#", "A########-#", "A#########"],
      isValid: isRif,
      context: ["rif", "seniat", "venezuela"],
      hits: ["RIF: V-11470283-4"],
      misses: ["V-11470283-4", "RIF V-11470283-3"],
    },
  ],
);

function isThai(digits: string): boolean {
  return digits[0] !== "0" && (11 - (weighted(digits, [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 10 === Number(digits[12]);
}
