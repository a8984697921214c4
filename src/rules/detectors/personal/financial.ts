import { hash } from "node:crypto";
import { isUniform, weighted } from "#rules/detectors/checks/check-digits.ts";
import { luhn } from "#rules/detectors/checks/checks.ts";
import { codeDetectors } from "./code-detector.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import { valueAtEnd } from "#rules/detectors/engine/value-range.ts";

/** Federal Reserve districts, thrifts, electronic and government numbers; then weights 3, 7, 1. */
const isAba = (digits: string): boolean =>
  /^(?:0[0-9]|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)/.test(digits) &&
  !isUniform(digits) &&
  weighted(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0;

/** Letters count as two digits, and the check digit is Luhn's. */
const isIsin = (code: string): boolean => luhn([...code].map((char) => Number.parseInt(char, 36)).join(""));

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BASE58_VALUES = Int8Array.from({ length: 128 }, (_, code) => BASE58.indexOf(String.fromCharCode(code)));
const BASE58_BYTES = 25;
/** The number as digits of base 256, the highest first. */
const number = Buffer.alloc(BASE58_BYTES);

/** 25 bytes, the last four of which are from a double SHA-256 of the others. */
function isBase58Check(text: string): boolean {
  number.fill(0);
  for (let i = 0; i < text.length; i++) {
    let carry = BASE58_VALUES[text.charCodeAt(i)] ?? -1;
    if (carry < 0) return false;
    for (let place = BASE58_BYTES - 1; place >= 0; place--) {
      carry += (number[place] as number) * 58;
      number[place] = carry & 255;
      carry >>= 8;
    }
    if (carry > 0) return false;
  }
  // As text, because that takes a third of the time of a buffer.
  const once = Buffer.from(hash("sha256", number.subarray(0, 21), "hex"), "hex");
  return hash("sha256", once, "hex").startsWith(number.toString("hex", 21));
}

const BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const BECH32_VALUES = Int8Array.from({ length: 256 }, (_, code) => BECH32.indexOf(String.fromCharCode(code)));
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
/** The generators' sum for each value of the five highest bits. */
const GENERATED = Int32Array.from({ length: 32 }, (_, top) =>
  GENERATORS.reduce((sum, generator, bit) => ((top >> bit) & 1 ? sum ^ generator : sum), 0),
);
const polymod = (sum: number, value: number): number => ((sum & 0x1ffffff) << 5) ^ value ^ (GENERATED[sum >>> 25] as number);

/** BIP 173 and, with the other constant, BIP 350. */
function isBech32(address: string): boolean {
  const text = address.toLowerCase();
  const one = text.indexOf("1");
  let sum = 1;
  for (let i = 0; i < one; i++) sum = polymod(sum, text.charCodeAt(i) >> 5);
  sum = polymod(sum, 0);
  for (let i = 0; i < one; i++) sum = polymod(sum, text.charCodeAt(i) & 31);
  for (let i = one + 1; i < text.length; i++) {
    const value = BECH32_VALUES[text.charCodeAt(i)] ?? -1;
    if (value < 0) return false;
    sum = polymod(sum, value);
  }
  return sum === 1 || sum === 0x2bc830a3;
}

const CODES = codeDetectors(
  "financial",
  ["bank"],
  [
    {
      id: "fin.aba_routing",
      rule_id: "83b7cdc8b73a1dab7d572784a8934307",
      name: "US bank routing number (ABA)",
      templates: ["#########", "####-####-#"],
      isValid: isAba,
      context: ["aba", "routing", "rtn", "transit", "bank"],
      hits: ["routing number 121000358", "ABA 3222-7162-7"],
      misses: ["121000358", "ABA 421042111", "ABA 121000359"],
    },
    {
      id: "fin.bank_account",
      rule_id: "e97efa7e76b25d9c5c20dc616373dff6",
      name: "Bank account number, beside its name",
      templates: ["########", "#########", "##########", "###########", "############", "##-##-## ########", "###### ########"],
      isValid: (digits) => !isUniform(digits),
      context: ["bank account", "banking account", "account number", "acct no", "acct number", "kontonummer", "sort code"],
      enabled: false,
      hits: ["my bank account number is 912803456"],
      misses: ["912803456", "bank account 000000000"],
    },
    {
      id: "fin.isin",
      rule_id: "239d9d724da503b06779a42f046eb39d",
      name: "Securities identification number (ISIN)",
      templates: ["AA##########", "AA*********#"],
      isValid: (code) => /^[A-Z]{2}[A-Z0-9]{9}\d$/.test(code) && isIsin(code),
      context: ["isin", "securit", "share", "bond", "fund"],
      enabled: false,
      hits: ["ISIN US0378331005", "isin: DE000BAY0017"],
      misses: ["US0378331005", "ISIN US0378331006"],
    },
    {
      id: "fin.bic",
      rule_id: "49f486d21ad8cfdf8a22e992082f5758",
      name: "Bank identifier (BIC)",
      templates: ["AAAAAA##", "AAAAAA##***", "AAAAAA#A", "AAAAAAA#", "AAAAAAA#***", "AAAAAA#A***"],
      isValid: () => true,
      context: ["bic", "swift"],
      enabled: false,
      hits: ["BIC SBICKEN1", "swift code: DEUTDE5M500"],
      misses: ["SBICKEN1"],
    },
  ],
);

/** ISO 3166-1, and Kosovo's, which banks use. */
const COUNTRIES: ReadonlySet<string> = new Set(
  [
    "AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BW BY BZ CA CC CD CF CG CH CI CK CL",
    "CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GT GU",
    "GW GY HK HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA",
    "MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PR",
    "PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TG TH TJ TL TM TN TO TR TT TV TW TZ",
    "UA UG US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW",
  ].flatMap((line) => line.split(" ")),
);

const NAMES_OF_BICS = ["BIC", "Bic", "bic", "SWIFT", "Swift", "swift"];
/** Text between a name and its value: some words, or tags. */
const TO_VALUE = String.raw`(?:[^\n<>]{0,24}?[^A-Za-z0-9\n<>]|[^\n<>]{0,24}?(?:\s{0,4}<[^<>]{0,80}>){1,3}\s{0,4})`;

const bicIn = valueAtEnd(/(?<![A-Z0-9])[A-Z0-9]+$/);

/** Most codes have only letters, so only their name shows what they are (ISO 9362). */
const NAMED_BIC: Detector = {
  id: "fin.bic_named",
  rule_id: "fd9c850807d38fab5749e7e4a7cc7ef6",
  name: "Bank identifier (BIC) behind its name, also without digits",
  category: "financial",
  tags: ["bank"],
  anchors: NAMES_OF_BICS.map((text) => ({ kind: "literal", text, word: false })),
  patterns: [new RegExp(`(?:${NAMES_OF_BICS.join("|")})${TO_VALUE}[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?(?![A-Za-z0-9])`, "y")],
  accepts: (text) => COUNTRIES.has(text.slice(...bicIn(text)).slice(4, 6)),
  valueIn: bicIn,
  confidence: "medium",
  enabled: false,
  hits: ["BIC: DEUTDEFF", "swift code FMKZUSUB92M", "SWIFT code is CHASUSGXXXX", "<td>BIC</td><td>COBADEFFXXX</td>", '"bic":"SBICKENY"'],
  misses: ["DEUTDEFF", "SWIFT TRANSFER", "BIC: deutdeff", "swift NSMutableArray"],
};

const wallet = (
  row: Pick<Detector, "id" | "rule_id" | "name" | "anchors" | "patterns" | "accepts" | "hits" | "misses"> & Partial<Detector>,
): Detector => ({
  category: "financial",
  tags: ["crypto-wallet"],
  confidence: "high",
  enabled: true,
  ...row,
});

const WALLETS: readonly Detector[] = [
  wallet({
    id: "fin.crypto_bech32",
    rule_id: "5a52098b3a8a532aa9a53170c96a5aa1",
    name: "Bitcoin or Litecoin address (bech32)",
    anchors: ["bc1q", "bc1p", "ltc1q", "tb1q", "tb1p"].map((text) => ({ kind: "literal", text, word: true })),
    patterns: [/(?:bc1|tb1|ltc1)[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{38,59}(?![A-Za-z0-9_])/y],
    accepts: isBech32,
    hits: ["bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"],
    misses: ["bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdp"],
  }),
  wallet({
    id: "fin.crypto_bech32_other",
    rule_id: "57dc0d971511e3d88ca46e293c0bc169",
    name: "Address of Cardano or of a chain of Cosmos (bech32)",
    anchors: ["addr1", "stake1", "cosmos1", "osmo1", "celestia1", "juno1", "terra1", "inj1"].map((text) => ({
      kind: "literal",
      text,
      word: true,
    })),
    patterns: [/(?:addr|stake|cosmos|osmo|celestia|juno|terra|inj)1[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{38,110}(?![A-Za-z0-9_])/y],
    accepts: isBech32,
    hits: [
      "cosmos139frffqqenaamdmy9q5j6q6vh6mna42e9z8qyx",
      "addr1ljleju7skrgdw5l8aqgwrl0cakacuzrw04e4avqjwas9408fkpgye3eq68ym42wxumz842xxg2wzvgyn2rhca5eer6v0vxpj6y",
    ],
    misses: ["cosmos12jvyuk0txmzkfhn889ldg8vcxxdluazqfmxjt", "addr1", "cosmo13m62f8d7vc48ukyxv57lhlpz2ykd2uztsj59ue"],
  }),
  wallet({
    id: "fin.crypto_ethereum",
    rule_id: "d6e5fd1da00b74de080f9a91b75da5f4",
    name: "Ethereum address, beside its name",
    anchors: Array.from("0123456789abcdefABCDEF", (digit) => ({ kind: "literal", text: `0x${digit}`, word: true })),
    patterns: [/0x[0-9a-fA-F]{40}(?![A-Za-z0-9_])/y],
    // linear: pumped
    accepts: (text) => !/(.)\1{9}/.test(text),
    context: ["eth", "ethereum", "wallet", "erc20", "address"],
    confidence: "medium",
    enabled: false,
    hits: ["eth wallet 0x52908400098527886E0F7030069857D2E4169EE7"],
    misses: ["0x52908400098527886E0F7030069857D2E4169EE7", "eth 0x0000000000000000000000000000000000000000"],
  }),
];

const NAMES_OF_WALLETS = ["allet", "ddress", "coin", "BTC", "btc", "LTC", "ltc", "DOGE", "Dash", "DASH", "ron", "TRX", "trx"];

const walletIn = valueAtEnd(/(?<![A-Za-z0-9])[A-Za-z0-9]+$/);

/** Addresses that start with a letter and are found only after a name: of the test network, Litecoin, Dogecoin, Dash and Tron. */
const NAMED_BASE58 = wallet({
  id: "fin.crypto_base58_named",
  rule_id: "223c6d782e384be6d03f870296024735",
  name: "Address of Bitcoin's test network, Litecoin, Dogecoin, Dash or Tron, behind its name",
  anchors: NAMES_OF_WALLETS.map((text) => ({ kind: "literal", text, word: false })),
  patterns: [new RegExp(`(?:${NAMES_OF_WALLETS.join("|")})${TO_VALUE}[mnLMDXTA9][1-9A-HJ-NP-Za-km-z]{25,34}(?![A-Za-z0-9_])`, "y")],
  accepts: (text) => isBase58Check(text.slice(...walletIn(text))),
  valueIn: walletIn,
  enabled: false,
  hits: [
    "wallet mjYRqyVyUajc2RjJT7tKxRLnRg5X77hzvs",
    "Tron address: TNaNZtZu5DieHacdmowNn37vUQKNivGB2G",
    "<td>Litecoin</td><td>LLrsacQoWaUjtr2KH7AGzf6Z8ZkDGmDH3R</td>",
  ],
  misses: ["mjYRqyVyUajc2RjJT7tKxRLnRg5X77hzvs", "wallet mjYRqyVyUajc2RjJT7tKxRLnRg5X77hzvx"],
});

/** Base58 addresses have no literal to begin at, only the digit: 1 or 3, or 2 in the test network. */
export const BASE58_DETECTOR: Detector = wallet({
  id: "fin.crypto_base58",
  rule_id: "f5561d61154052ea05748cc18f88715e",
  name: "Bitcoin address",
  anchors: [{ kind: "base58" }],
  patterns: [/[123][1-9A-HJ-NP-Za-km-z]{25,34}(?![A-Za-z0-9_])/y],
  accepts: isBase58Check,
  hits: ["16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyZ", "pay to 3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc"],
  misses: ["16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyX"],
});

export const FINANCIAL_DETECTORS: readonly Detector[] = [...CODES, NAMED_BIC, ...WALLETS, NAMED_BASE58, BASE58_DETECTOR];
