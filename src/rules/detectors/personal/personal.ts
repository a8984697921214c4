import { digitsOf, isPlaceholder } from "#rules/detectors/checks/checks.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";

// Printed on sample cards and in advertisements, so never a person's.
const PUBLISHED_SSNS = new Set(["078051120", "219099999", "457555462"]);

/** Social Security Administration: areas 000, 666 and 900–999, group 00 and serial 0000 are never issued. */
function isSsn(text: string): boolean {
  const digits = digitsOf(text);
  const area = digits.slice(0, 3);
  if (area === "000" || area === "666" || area >= "900") return false;
  return digits.slice(3, 5) !== "00" && digits.slice(5) !== "0000" && !PUBLISHED_SSNS.has(digits) && !isPlaceholder(digits);
}

const WORDS_OF_SSN = [
  "ssn",
  "s.s.n",
  "social sec",
  "soc sec",
  "social number",
  "social is",
  "seguro social",
  "ss no",
  "ss num",
  "ss#",
  "ssns",
  "ssa no",
  "ssa num",
  "my social",
  "your social",
  "his social",
  "her social",
];

export const PERSONAL_DETECTORS: readonly Detector[] = [
  {
    id: "pii.ssn_us",
    rule_id: "3f0c1b7a9d5e4c2d8a61f7e20b94c8d3",
    name: "US Social Security number",
    category: "pii",
    anchors: [{ kind: "chain", templates: ["###-##-####", "### ## ####", "###.##.####", "###-######", "### - ## - ####"] }],
    patterns: [],
    accepts: isSsn,
    // Nine in ten random numbers of this form are valid: orders, articles and telephones have it too.
    confidence: "medium",
    sureBeside: WORDS_OF_SSN,
    enabled: true,
    hits: ["SSN 536-90-4399", '"ssn":"219-09-9998"', "536\u201190\u20114399", "it is 536 90 4399, or 536.90.4399", "536 - 90 - 4399"],
    misses: [
      "000-12-3456",
      "666-12-3456",
      "912-12-3456",
      "536-00-4399",
      "536-90-0000",
      "078-05-1120",
      "123-45-6789",
      "536-90-43990",
      "1536-90-4399",
      "5-536-90-4399",
    ],
  },
  {
    id: "pii.ssn_us_labelled",
    rule_id: "c6a2e94d07b14f5f93d8b1c05e7fa246",
    name: "US Social Security number in another form, beside its name",
    category: "pii",
    anchors: [{ kind: "chain", templates: ["#########", "#####-####", "##### ####"], stuck: true }],
    patterns: [],
    accepts: isSsn,
    context: WORDS_OF_SSN,
    // Not if the label has its own number.
    namedBehind: /^[^\d\n",;]{0,24}(?<![a-z])(?:ssn|s\.s\.n|social sec(?:urity)?)(?![a-z]|[^\d\n]{0,16}\d)/i,
    confidence: "medium",
    enabled: true,
    hits: [
      "ssn: 536904399",
      "Social Security number 53690 4399",
      "Soc. Sec. No. 536904399",
      "número de seguro social: 536904399",
      "536904399 (SSN)",
      "536904399 is my social security number",
      "SSN536904399",
      '"ss_num":"536904399"',
      "my social is 536904399",
    ],
    misses: ["536904399", "Boston, MA 02110-1301", "ssn: 000904399", "order 536904399 SSN: 000904399", '{"id":536904399,"ssn":null}'],
  },
];
