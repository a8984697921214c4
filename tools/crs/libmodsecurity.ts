import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SourceFile } from "#rules/seclang/syntax/directives.ts";
import type { StageInput } from "./regression-tests.ts";

/** Runs libmodsecurity on requests with the program libmodsecurity.c. Needs gcc and Debian's libmodsecurity-dev. */
export interface LibModSecurity {
  /** For each request the ids of the rules that were logged, in their order. */
  idsOf(requests: readonly StageInput[]): readonly (readonly number[])[];
  /** Microseconds of CPU per request, each evaluated `rounds` times. */
  cpuMicros(requests: readonly StageInput[], rounds: number): number;
  close(): void;
}

export const LIBMODSECURITY_HEADERS = "/usr/include/modsecurity/modsecurity.h";

/** The part of these settings that says how requests are read. */
export const readingSettings: SourceFile = {
  name: "settings.conf",
  content: `SecRuleEngine DetectionOnly
SecRequestBodyAccess On
SecRequestBodyLimit 13107200
SecRule REQUEST_HEADERS:Content-Type "^(?:application(?:/soap\\+|/)|text/)xml" "id:200000,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=XML"
SecRule REQUEST_HEADERS:Content-Type "^application/(?:[a-z0-9.-]+[+])?json" "id:200001,phase:1,t:none,t:lowercase,pass,nolog,ctl:requestBodyProcessor=JSON"
`,
};

/** Settings of ModSecurity's recommended configuration for reading requests, with all paranoia levels. No rule disrupts. */
const compareSettings = (paranoia: number): SourceFile => ({
  ...readingSettings,
  content: `${readingSettings.content}SecAction "id:900005,phase:1,nolog,pass,setvar:tx.paranoia_level=${paranoia},setvar:tx.executing_paranoia_level=${paranoia}"
`,
});

/** `files`: paths of rules, loaded after the settings. Throws if they do not compile. */
export function createLibModSecurity(files: readonly string[], paranoia: number): LibModSecurity {
  if (!existsSync(LIBMODSECURITY_HEADERS)) throw new Error("libmodsecurity is not installed (apt-get install gcc libmodsecurity-dev)");
  const home = mkdtempSync(join(tmpdir(), "selvedge-libmodsecurity-"));
  const program = join(home, "libmodsecurity");
  execFileSync("gcc", ["-O2", "-o", program, new URL("libmodsecurity.c", import.meta.url).pathname, "-lmodsecurity"]);
  const settings = join(home, "settings.conf");
  writeFileSync(settings, compareSettings(paranoia).content);
  const run = (requests: readonly StageInput[], rounds: number): readonly string[] => {
    const input = requests.map((request) => `${wordsOf(request).map(hex).join(" ")}\n`).join("");
    const { stdout, stderr, status } = spawnSync(program, [String(rounds), ...files.slice(0, 1), settings, ...files.slice(1)], {
      input,
      encoding: "latin1",
      maxBuffer: 256 << 20,
      timeout: TIMEOUT_MS,
    });
    if (status !== 0) throw new Error(`libmodsecurity ended with ${status}: ${stderr}`);
    return stdout.split("\n");
  };
  return {
    idsOf: (requests) =>
      run(requests, 0)
        .slice(0, requests.length)
        .map((line) => line.trim().split(" ").filter(Boolean).map(Number)),
    cpuMicros: (requests, rounds) => Number(run(requests, rounds)[requests.length]),
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}

const TIMEOUT_MS = 1_800_000;

const wordsOf = ({ method, version, uri, data, headers }: StageInput): readonly string[] => [
  method,
  version.replace("HTTP/", ""),
  uri,
  data,
  ...headers.flat(),
];

const hex = (text: string): string => (text === "" ? "-" : Buffer.from(text, "latin1").toString("hex"));
