import { codeDetectors } from "./code-detector.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";

/** Country prefix, rule, forms (chains.ts) and an example. */
const COUNTRIES: readonly (readonly [string, string, readonly string[], string])[] = [
  ["AT", "89f1f4a1e3477c3595cfe306f76d2b27", ["AAA########"], "ATU12345678"],
  ["BE", "46e39b38377ebea8d7cb84e3a645e00d", ["AA##########", "AA#########"], "BE7482337252"],
  ["BG", "4cd1a4b9ed8d920427fc353116068433", ["AA#########", "AA##########"], "BG388353823"],
  ["CH", "ca1318b26f23c007457d6922cdfb37df", ["AAA-###.###.###", "AAA#########"], "CHE-528.252.468"],
  ["CY", "795270a60ea0cf95558789f3535f9bad", ["AA########A"], "CY43643573B"],
  ["CZ", "9b29293cbad070cbbc42b30cd4c1e4be", ["AA########", "AA#########", "AA##########"], "CZ32598799"],
  ["DE", "3587d0595e4b02430f4537c480f2f057", ["AA#########"], "DE765453697"],
  ["DK", "b62d8c389fa21c66909a2148774888cc", ["AA########"], "DK96338474"],
  ["EE", "2cada8545a0e737eb77e113accfe54cc", ["AA#########"], "EE982377799"],
  ["EL", "2dd239529339e7e7bbfd51361586aaf7", ["AA#########"], "EL336932696"],
  ["ES", "2b9e64e59d03c49f64dcc3eb810cbb70", ["AAA#######A", "AAA########", "AA########A"], "ESB8729743B"],
  ["FI", "3d4f80980401aefaf333998cc6e26745", ["AA########"], "FI92564588"],
  ["FR", "27f05385ba386cbc9823bbfa0cce6beb", ["AA###########", "AA*A#########", "AAA##########"], "FR93498648687"],
  ["GB", "2075344652a42c70543cfa06e6a65e0b", ["AA#########", "AA############", "AA ### #### ##"], "GB854344552"],
  ["HR", "79261285465cd3f4c9f9a252d972814d", ["AA###########"], "HR94662487742"],
  ["HU", "51fa228f745c0a3563db29c932d44513", ["AA########"], "HU98888398"],
  ["IE", "04ba9f4fb33417ccd7d6452457787ead", ["AA#######A", "AA#######AA"], "IE2535943B"],
  ["IT", "a3de60f14942be3c61da0e4599d36eee", ["AA###########"], "IT72324372358"],
  ["LT", "9a8c07539cf7f47c4b79376b97c88727", ["AA#########", "AA############"], "LT467793399"],
  ["LU", "c3e545d915f60c1a00a548f6cf52734a", ["AA########"], "LU99634376"],
  ["LV", "aaaf27a187e97acece980c8d95584752", ["AA###########"], "LV94257426367"],
  ["MT", "a0b3516f0759fc222c2df20b7759dd0d", ["AA########"], "MT47575558"],
  ["NL", "322a19ce6aec1b91377aa8f25a90a6bb", ["AA#########A##"], "NL559722696B57"],
  ["NO", "ddf91c30c632b1893b7cda21fa4e3c6e", ["AA#########AAA"], "NO977353595BBB"],
  ["PL", "aa8b1ec9f497db91f4dc972412983448", ["AA##########", "AA###-###-##-##"], "PL7592973385"],
  ["PT", "7f01be1b26ef940aa0e2a38edbf1e0bc", ["AA#########"], "PT948738983"],
  ["RO", "f4f7ab4edf14da11bb8e14caa8eed24f", ["AA########", "AA#########", "AA##########"], "RO44424949"],
  ["SE", "42fab82c08d0e09157a6aefaa4980db1", ["AA############"], "SE744223485526"],
  ["SI", "ef1263ba67504567f67711f7bc9d5bb1", ["AA########"], "SI56576842"],
  ["SK", "0ef664aca9226dfc5ce36c02ef53e413", ["AA##########"], "SK7984429424"],
];

const WORDS = ["vat", "ust", "tva", "iva", "btw", "moms", "mwst", "pdv", "tax", "nip", "umsatzsteuer"];

/** Numbers of businesses, which are public on every invoice: off by default. */
export const VAT_DETECTORS: readonly Detector[] = codeDetectors(
  "financial",
  ["vat"],
  COUNTRIES.map(([country, rule_id, templates, example]) => ({
    id: `fin.vat_${country.toLowerCase()}`,
    rule_id,
    name: `Value added tax number (${country})`,
    templates,
    // linear: pumped
    isValid: (code) => code.startsWith(country) && !/(\d)\1{6}/.test(code),
    context: WORDS,
    enabled: false,
    hits: [`VAT ${example}`],
    misses: [example, `VAT ZZ${example.slice(2)}`],
  })),
);
