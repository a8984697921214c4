import { isIPv6 } from "node:net";
import { once } from "#kernel/once.ts";
import { chainOf } from "./code-detector.ts";
import { behindArea, groupedNumbers } from "./code-forms.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";

type Row = Pick<Detector, "id" | "rule_id" | "name" | "anchors" | "patterns" | "accepts" | "hits" | "misses"> & Partial<Detector>;

/** Most pages have an address or a telephone number on purpose, so all of these are off by default (sensitive-data.md). */
const contact = (row: Row): Detector => ({ category: "pii", tags: ["contact"], confidence: "medium", enabled: false, ...row });

/** As people write national numbers, and international ones without a plus. */
const phoneForms = once((): readonly string[] => [
  ...Array.from({ length: 10 }, (_, more) => "#".repeat(6 + more)),
  ...groupedNumbers(),
  ...behindArea(),
  // In groups that dates have too, in five groups as in France, and with two kinds of separators.
  ...[
    "##~##~##",
    "##~##~####",
    "##~##~##~##~##",
    "#~##~##~##~##",
    "###~##~##~##~##",
    "##~##~##~##~####",
    "##~##~####~####",
    "#~###~###~##~##",
    "#### ## ## ## ##",
  ],
  ...["# (###) ###-##-##", "#(###)###-##-##", "#(###) ###-##-##", "# ### ###-##-##", "### ###-##-##", "## ###-##-##", "# (###) ### ## ##"],
  ...["#-###) #####", "### ###-###", "### ###-####", "# ### ###-####", "## ####-####", "## #####-####", "###-### ####", "###-### ## ##"],
]);

/** The part before the at sign, also quoted (RFC 5321 §4.1.2). */
const LOCAL_PART = String.raw`(?:[A-Za-z0-9\x80-\xff][A-Za-z0-9._%+\x80-\xff-]{0,63}|"(?:[^"\\\n]|\\[\x20-\x7e]){1,62}")`;
const TOP_LEVEL = "(?:[A-Za-z]{2,24}|xn--[A-Za-z0-9-]{2,59})";

/** The at sign as addresses, pages and JSON encode it. */
const SPELLED_AT_SIGNS = ["%40", "&#64;", "&#x40;", "&#X40;", "&commat;", "\\u0040"];

const octets = ["#", "##", "###"];
const IPV4_FORMS = octets.flatMap((a) => octets.flatMap((b) => octets.flatMap((c) => octets.map((d) => `${a}.${b}.${c}.${d}`))));

export const CONTACT_DETECTORS: readonly Detector[] = [
  contact({
    id: "pii.email",
    rule_id: "61e6155b6f3ea327e1e910c1d8ae30fb",
    name: "E-mail address",
    anchors: [{ kind: "at_sign" }, ...SPELLED_AT_SIGNS.map((text) => ({ kind: "literal", text, word: false, behindName: true }) as const)],
    patterns: [
      // linear: pumped
      new RegExp(
        `${LOCAL_PART}(?:@|%40|&#64;|&#[Xx]40;|&commat;|\\\\u0040)(?:[A-Za-z0-9-]{1,63}\\.){1,8}${TOP_LEVEL}(?![A-Za-z0-9_@-])`,
        "y",
      ),
      // RFC 6531: domain names in UTF-8.
      // linear: pumped
      new RegExp(String.raw`${LOCAL_PART}@(?:[A-Za-z0-9\x80-\xff-]{1,63}\.){1,8}(?:${TOP_LEVEL}|[\x80-\xff]{4,48})(?![A-Za-z0-9_@-])`, "y"),
      // RFC 5321 §4.1.3: an address instead of a name.
      new RegExp(String.raw`${LOCAL_PART}@\[?(?:(?:\d{1,3}\.){3}\d{1,3}|IPv6:[0-9A-Fa-f:.]{2,45})(?:\]|(?![A-Za-z0-9_.-]))`, "y"),
    ],
    accepts: (text) => !/\.(?:png|jpe?g|gif|svg|webp|css|js)$/i.test(text),
    confidence: "high",
    hits: [
      "write to foo.bar@bar.com.au.",
      "<a href=mailto:x@x.au>",
      "?mail=jane.doe%40shop.test&x=1",
      "jane&#64;shop.test",
      "jane&#x40;shop.test",
      "hans@m\u00fcller.de",
      "hans@\u043f\u043e\u0447\u0442\u0430.\u0440\u0444",
      "hans@shop.xn--p1ai",
      "hans@[192.0.2.1]",
      '"jane doe"@shop.test',
      "\u7528\u6237@\u4f8b\u5b50.\u5e7f\u544a",
    ],
    misses: ["logo@2x.png", "@bar.com", "foo@bar"],
  }),
  contact({
    id: "pii.phone_international",
    rule_id: "9666639ffe76a63c2fcc266a106f33c8",
    name: "Telephone number with country code",
    anchors: [{ kind: "plus" }],
    // linear: pumped
    patterns: [/\+[1-9]\d{0,2}\)?[ .\-/]?(?:\(0?\d{1,4}\)[ .\-/]?)?\d{1,5}(?:[ .\-/]?\d{1,5}){1,5}(?!\d)/y],
    accepts: (text) => {
      const count = text.replace(/\D/g, "").length;
      // linear: pumped
      return count >= 8 && count <= 15 && !/(\d)\1{6}/.test(text);
    },
    hits: ["+905321234567", "+90 532 123 45 67", "+49 (0)30 901820", "(+31) 20 785 1283"],
    misses: ["+1", "+1111111111", "a+1234"],
  }),
  contact({
    id: "pii.phone",
    rule_id: "1566e32334b6b3e839ed45cd90a12296",
    name: "Telephone number, beside its name",
    anchors: [chainOf(phoneForms)],
    patterns: [],
    // linear: pumped
    accepts: (text) => !/^(\d)\1+$/.test(text.replace(/\D/g, "")),
    context: [
      "phone",
      "tel",
      "mobil",
      "cell",
      "call",
      "fax",
      "whatsapp",
      "handy",
      "numara",
      "contact",
      "gsm",
      "msisdn",
      "cep",
      "hotline",
      "sms",
      "телефон",
      "τηλ",
      "電話",
      "电话",
      "전화",
      "هاتف",
    ],
    hits: ["phone: 212-555-0187", "call me at 07911 123456", "phone (425) 882-9090", "Cep 0 532 123 45 67", "tel 0811 7785 9983"],
    misses: ["212-555-0187", "phone 0000000"],
  }),
  contact({
    id: "pii.ipv4",
    rule_id: "13813ac3b98c820261e126770c864eb0",
    name: "IPv4 address",
    anchors: [{ kind: "chain", templates: IPV4_FORMS }],
    patterns: [],
    accepts: (text) =>
      // Versions begin with zero.
      text.split(".").every((part) => Number(part) < 256 && (part === "0" || part[0] !== "0")) && (text === "0.0.0.0" || text[0] !== "0"),
    hits: ["client 203.0.113.9 connected", "192.168.0.1"],
    misses: ["256.1.1.1", "0.1.2.3", "1.2.3.4.5"],
  }),
  contact({
    id: "pii.ipv6",
    rule_id: "5a0d7c1e94b84e6fb1f3a2c86d970e45",
    name: "IPv6 address",
    anchors: [{ kind: "colon" }],
    patterns: [
      // linear: pumped
      /(?:[0-9A-Fa-f]{0,4}:){2,8}(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9A-Fa-f]{1,4})?(?:%[A-Za-z0-9][A-Za-z0-9._-]{0,15})?(?:\/\d{1,3})?(?![0-9A-Za-z:])/y,
    ],
    // Program paths such as `fe::be` look like addresses without a digit.
    accepts: (text) => isIPv6(text.replace(/[%/].*/, "")) && /\d/.test(text),
    hits: [
      "from 2001:db8::8a2e:370:7334",
      "ip:2001:db8::1",
      "ipv6:::1",
      "http://[fe80::1%eth0]/",
      "::ffff:192.0.2.1",
      "2001:0db8:0:0:0:0:0:1.",
    ],
    misses: ["12:30:45", "std::string", "fe::be", "00:1a:2b:3c:4d:5e", "1::2::3", ":: "],
  }),
  contact({
    id: "pii.ipv6_unspecified",
    rule_id: "f1f4bce6b4a2c45792121f8f0cd0c6da",
    name: "Unspecified IPv6 address, beside its name",
    anchors: [{ kind: "colon" }],
    patterns: [/::(?:\/0)?(?![0-9A-Za-z:])/y],
    accepts: () => true,
    // Without context, two colons have many other meanings.
    context: ["ip", "ipv6", "unspecified", "listen", "bind"],
    hits: ["listen on [::]:8080", "ipv6 ::", "ip -6 route add ::/0"],
    misses: ["std::string", "as follows::", "x :: Int"],
  }),
  contact({
    id: "pii.mac",
    rule_id: "7e80aa12312cd6064cd3995c220f56b0",
    name: "Address of a network card (MAC)",
    anchors: [{ kind: "colon" }],
    patterns: [/[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}(?![0-9A-Za-z:])/y],
    accepts: (text) => !/^(?:00:){5}|^(?:ff:){5}/i.test(text),
    hits: ["00:1a:2b:3c:4d:5e", "ether 3C:22:FB:0A:91:7E"],
    misses: ["00:00:00:00:00:00", "00:1a:2b:3c:4d", "00:1a:2b:3c:4d:5e:6f"],
  }),
];
