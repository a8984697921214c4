import type { Detector } from "./detector.ts";

type Row = Pick<Detector, "id" | "rule_id" | "name" | "anchors" | "patterns" | "accepts" | "hits" | "misses"> & Partial<Detector>;

/** Most pages carry an address or a telephone number on purpose, so all of these are off unless asked for (sensitive-data.md). */
const contact = (row: Row): Detector => ({ category: "pii", tags: ["contact"], confidence: "medium", enabled: false, ...row });

const octets = ["#", "##", "###"];
const IPV4_FORMS = octets.flatMap((a) => octets.flatMap((b) => octets.flatMap((c) => octets.map((d) => `${a}.${b}.${c}.${d}`))));

export const CONTACT_DETECTORS: readonly Detector[] = [
  contact({
    id: "pii.email",
    rule_id: "61e6155b6f3ea327e1e910c1d8ae30fb",
    name: "E-mail address",
    anchors: [{ kind: "at_sign" }],
    patterns: [/[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9_@-])/y],
    accepts: (text) => !/@(?:[a-z0-9-]+\.)*example\.(?:com|net|org)$/i.test(text) && !/\.(?:png|jpe?g|gif|svg|webp|css|js)$/i.test(text),
    confidence: "high",
    hits: ["write to foo.bar@bar.com.au.", "<a href=mailto:x@x.au>"],
    misses: ["foo@example.com", "logo@2x.png", "@bar.com", "foo@bar"],
  }),
  contact({
    id: "pii.phone_international",
    rule_id: "9666639ffe76a63c2fcc266a106f33c8",
    name: "Telephone number with country code",
    anchors: [{ kind: "plus" }],
    patterns: [/\+[1-9]\d{0,2}[ .\-/]?(?:\(0?\d{1,4}\)[ .\-/]?)?\d{1,5}(?:[ .\-/]?\d{1,5}){1,5}(?!\d)/y],
    accepts: (text) => {
      const count = text.replace(/\D/g, "").length;
      return count >= 8 && count <= 15 && !/(\d)\1{6}/.test(text);
    },
    hits: ["+905321234567", "+90 532 123 45 67", "+49 (0)30 901820"],
    misses: ["+1", "+1111111111", "a+1234"],
  }),
  contact({
    id: "pii.phone",
    rule_id: "1566e32334b6b3e839ed45cd90a12296",
    name: "Telephone number, beside its name",
    anchors: [
      {
        kind: "chain",
        templates: [
          "##########",
          "###########",
          "###~###~####",
          "####~###~####",
          "####~######",
          "#####~######",
          "###~####~####",
          "##~####~####",
          "#### ### ###",
          "## ## ## ## ##",
          "#####~#####",
          "### ### ## ##",
          "#### ### ## ##",
          "#########",
          "### ### ###",
        ],
      },
    ],
    patterns: [],
    accepts: (text) => !/^(\d)\1+$/.test(text.replace(/\D/g, "")),
    context: ["phone", "tel", "mobile", "cell", "call", "fax", "whatsapp", "telefon", "handy", "numara", "contact"],
    hits: ["phone: 212-555-0187", "call me at 07911 123456"],
    misses: ["212-555-0187"],
  }),
  contact({
    id: "pii.ipv4",
    rule_id: "13813ac3b98c820261e126770c864eb0",
    name: "IPv4 address",
    anchors: [{ kind: "chain", templates: IPV4_FORMS }],
    patterns: [],
    accepts: (text) =>
      text.split(".").every((part) => Number(part) < 256 && (part === "0" || part[0] !== "0")) && !/^(?:0|127|255)\./.test(text),
    hits: ["client 203.0.113.9 connected", "192.168.0.1"],
    misses: ["256.1.1.1", "127.0.0.1", "1.2.3.4.5"],
  }),
  contact({
    id: "pii.url",
    rule_id: "9cb1d1c1a20ceecba369a4ecd09c3dab",
    name: "Web address",
    anchors: ["https://", "http://"].map((text) => ({ kind: "literal", text, word: true })),
    patterns: [/https?:\/\/[A-Za-z0-9][A-Za-z0-9.-]{0,252}[A-Za-z0-9](?::\d{1,5})?(?=[/?#\s"'<>),.;]|$)/y],
    accepts: (text) => !text.includes("www.w3.org"),
    confidence: "high",
    hits: ["see https://www.microsoft.com/", "http://shop.test:8080"],
    misses: ["https://", "http://www.w3.org/2000/svg"],
  }),
];
