import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../steps.ts";
import { type Page, page, table } from "./page.ts";

/**
 * The statements of SPEC.md, section by section. It numbers its sections to the second level; if a section is a list or
 * a table of unrelated statements, each of them counts as a section: 7.4 is the fourth row.
 */
const SECTIONS: readonly (readonly [section: string, title: string])[] = [
  ["1.1", "Area: AI gateway"],
  ["1.2", "Area: DNS"],
  ["1.3", "Area: sensitive data detection"],
  ["1.4", "Area: custom hostnames"],
  ["1.5", "Area: WAF migration"],
  ["1.6", "Area: deprecations"],
  ["2.1", "Response envelope"],
  ["2.2", "DNS record"],
  ["2.3", "DNS record types"],
  ["2.4", "SOA record fields"],
  ["2.5", "DNS settings"],
  ["2.6", "Ruleset and rule"],
  ["2.7", "Custom hostname"],
  ["2.8", "Access application"],
  ["2.9", "AI gateway"],
  ["3.1", "Gateway behaviour by authentication setting"],
  ["3.2", "Custom hostname status"],
  ["3.3", "WAF migration"],
  ["4.1", "Endpoints: AI gateway"],
  ["4.2", "Endpoints: DNS records"],
  ["4.3", "Endpoints: DNS settings"],
  ["4.4", "Endpoints: custom hostnames"],
  ["4.5", "Endpoints: rulesets and sensitive data detection"],
  ["4.6", "Endpoints: WAF migration"],
  ["5.1", "Authentication: AI gateway"],
  ["5.2", "Authentication: management API"],
  ["6", "Events"],
  ["7.1", "Error: authenticated gateway without authorization"],
  ["7.2", "Error: invalid DNS record, before the change date"],
  ["7.3", "Error: invalid DNS record, after the change date"],
  ["7.4", "Error: inconsistent quotation marks in TXT content"],
  ["7.5", "Error: custom hostname that cannot be routed or proxied"],
  ["7.6", "Error: CAA records block the chosen CA"],
  ["7.7", "Error: hostname in a held zone"],
  ["7.8", "Error: hostname too long for a common name"],
  ["7.9", "Error: certificate issuance above the rate limit"],
  ["7.10", "Error: entry point ruleset absent"],
  ["7.11", "Error: WAF migration of an ineligible zone"],
  ["7.12", "Error: WAF migration with too many or too long firewall rules"],
  ["7.13", "Error: request with Transfer-Encoding and Content-Length"],
  ["7.14", "Error: SRV write with legacy data fields"],
  ["8", "Limits: what detection looks at, settings that the WAF migration keeps"],
  ["8.1", "Limit: certificate issuance rate"],
  ["8.2", "Limit: lock-out after exceeding the rate"],
  ["8.3", "Limit: DNS name length"],
  ["8.4", "Limit: certificate common name"],
  ["8.5", "Limit: retention of moved custom hostnames"],
  ["8.6", "Limit: response body scanned"],
  ["8.7", "Limit: firewall rules migrated"],
  ["8.8", "Limit: firewall rule expression length"],
  ["8.9", "Limit: TTL of proxied records"],
  ["8.10", "Limit: SOA values"],
  ["9", "Versioning"],
];

interface Mention {
  readonly section: string;
  readonly test: string;
  readonly file: string;
}

export function specMapPage(): Page {
  const mentions = globSync(["src/**/*.test.ts", "test/**/*.test.ts"], { cwd: ROOT }).sort().flatMap(mentionsIn);
  const rows = SECTIONS.flatMap(([section, title]) => {
    const here = mentions.filter((mention) => mention.section === section);
    return here.length === 0
      ? [[section, title, "none yet", ""]]
      : here.map(({ test, file }) => [section, title, test, `[${file}](../${file})`]);
  });
  const how =
    "A test counts for a section when its title, or the text between it and the next test, names it as `SPEC 2.1`. " +
    "Where a section is a list or a table, the second number is the statement's place in it: `SPEC 7.4` is the fourth error.";
  return page("docs/spec-map.md", "Specification to tests", "{src,test}/**/*.test.ts", how, table(["Section", "", "Test", "File"], rows));
}

/** In a file, each mention belongs to the last test that began before it. */
function mentionsIn(file: string): readonly Mention[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  const titles = [...text.matchAll(/\b(?:test|it|describe|storeTest|databaseTest)\(\s*["'`](.*?)["'`],/g)];
  const found = new Map<string, Mention>();
  for (const match of text.matchAll(/SPEC (\d+(?:\.\d+)?)/g)) {
    const section = SECTIONS.find(([number]) => number === match[1])?.[0];
    // The title itself ends after the mention inside of it.
    const test = titles.findLast((title) => title.index < match.index)?.[1] ?? "the whole file";
    if (section !== undefined) found.set(`${section} ${test}`, { section, test, file });
  }
  return [...found.values()];
}
