import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../steps.ts";
import { type Page, page, table } from "./page.ts";

/** The sections of SPEC.md that state something to be tested. */
const SECTIONS: readonly (readonly [section: string, title: string])[] = [
  ["1", "What the service does"],
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
  ["7", "Errors"],
  ["8", "Limits"],
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
  const how = "A test counts for a section when its title, or the text between it and the next test, names it as `SPEC 2.1`.";
  return page("docs/spec-map.md", "Specification to tests", "{src,test}/**/*.test.ts", how, table(["Section", "", "Test", "File"], rows));
}

/** In a file, each mention belongs to the last test that began before it. */
function mentionsIn(file: string): readonly Mention[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  const titles = [...text.matchAll(/\b(?:test|it|describe)\(\s*["'`](.*?)["'`],/g)];
  const found = new Map<string, Mention>();
  for (const match of text.matchAll(/SPEC (\d+(?:\.\d+)?)/g)) {
    const section = knownSection(match[1] ?? "");
    // The title itself ends after the mention inside of it.
    const test = titles.findLast((title) => title.index < match.index)?.[1] ?? "the whole file";
    if (section !== undefined) found.set(`${section} ${test}`, { section, test, file });
  }
  return [...found.values()];
}

/** `1.1` is a paragraph of section 1, which has no sections of its own. */
const knownSection = (number: string): string | undefined =>
  [number, number.split(".")[0]].find((candidate) => SECTIONS.some(([section]) => section === candidate));
