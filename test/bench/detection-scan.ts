import { execFile } from "node:child_process";
import { type Dirent, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { lintSource } from "@secretlint/core";
import { creator as recommended } from "@secretlint/secretlint-rule-preset-recommend";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import { BodyScanner, scanBuffer } from "#rules/detectors/engine/scan.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";

import type { Benchmark, Measurement } from "./benchmark.ts";
import { toolPath } from "./program.ts";

const execute = promisify(execFile);
const BODY_BYTES_MAX = 1024 * 1024;
const CORPUS_BYTES = 60_000_000;
/** Peers are so much slower that one of this many bodies is enough. */
const SAMPLE = 10;
const RUN_TIMEOUT_MS = 300_000;
/** Pages and data that are on every machine which runs this: documentation and packages, as much of these as is missing. */
const CORPUS = [
  { folder: "/usr/share/doc", names: /\.(?:html?|json|xml)$/, bytesMax: CORPUS_BYTES / 2 },
  { folder: join(import.meta.dirname, "../../node_modules"), names: /\.(?:html?|json|xml|md|js)$/, bytesMax: CORPUS_BYTES },
];

const ENABLED = DETECTORS.filter((detector) => detector.enabled);

/**
 * Scans bodies without findings one after the other on one core, and the worst of them. ripgrep searches the same bytes
 * for the same formats, without the checks that distinguish a number from a card; secretlint searches for the secrets
 * only, with its recommended rules.
 */
export const detectionScan: Benchmark = {
  name: "detection-scan",
  unit: "MB a CPU second of benign pages and data",
  better: "higher",
  target: 500,
  tools: ["rg"],
  prepare: async ({ directory }) => {
    const bodies: Buffer[] = [];
    for (const { folder, names, bytesMax } of CORPUS)
      bodies.push(...filesOf(folder, names, Math.min(bytesMax, CORPUS_BYTES - sizeOf(bodies))));
    const corpus = join(directory, "corpus");
    const patterns = join(directory, "patterns");
    const sample = bodies.filter((_, index) => index % SAMPLE === 0);
    await writeFile(corpus, Buffer.concat(sample));
    await writeFile(patterns, `${[...new Set(ENABLED.flatMap(patternsOf))].join("\n")}\n`);
    const bytes = sizeOf(bodies);
    return {
      ours: { name: "selvedge", run: async () => scanAll(bodies, bytes) },
      peers: [
        { name: "secretlint", run: () => secretlint(sample) },
        { name: "ripgrep", run: () => ripgrep(patterns, corpus, sizeOf(sample)) },
      ],
      close: async () => undefined,
    };
  },
};

/** Types of bodies that have more numbers and names than pages. Small pictures cost more to begin than to scan. */
const TYPES = { script: /\.min\.js$/, css: /\.css$/, svg: /\.svg$/, json: /\.json$/ } as const;
const TYPE_BYTES_MAX = 8_000_000;
const SCANS_A_ROUND = 20;

/** The slowest of the types decides. */
export const detectionTypes: Benchmark = {
  name: "detection-types",
  unit: "MB a CPU second of the slowest of minified scripts, CSS, SVG and JSON",
  better: "higher",
  target: 500,
  tools: [],
  prepare: async () => {
    const folders = [join(import.meta.dirname, "../../node_modules"), "/usr/share"];
    const bodies = Object.entries(TYPES).map(([type, names]) => {
      const found = folders.flatMap((folder) => filesOf(folder, names, TYPE_BYTES_MAX / folders.length));
      return { type, found, bytes: sizeOf(found) };
    });
    const run = async (): Promise<Measurement> => {
      const also: Record<string, number> = {};
      for (const { type, found, bytes } of bodies) {
        const { hits, seconds } = timedScans(found, SCANS_A_ROUND);
        also[`${type}_megabytes`] = bytes / 1e6;
        also[`${type}_mb_per_s`] = (bytes * SCANS_A_ROUND) / 1e6 / seconds;
        also[`${type}_hits_per_mb`] = hits / (bytes / 1e6);
      }
      return { value: Math.min(...bodies.map(({ type }) => also[`${type}_mb_per_s`] as number)), also };
    };
    return { ours: { name: "selvedge", run }, close: async () => undefined };
  },
};

const sizeOf = (bodies: readonly Buffer[]): number => bodies.reduce((sum, body) => sum + body.length, 0);

const timed = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
};

const buffer = scanBuffer();

function scanOne(body: Buffer): number {
  const scanner = new BodyScanner(compiled(), { buffer });
  scanner.push(body);
  return scanner.end().findings.reduce((sum, { count }) => sum + count, 0);
}

let made: ReturnType<typeof compileDetectors> | undefined;
const compiled = (): ReturnType<typeof compileDetectors> => (made ??= compileDetectors(ENABLED));

/** Runs once before the measurement to warm the compilers up, because a server scans for days with compiled code. */
function timedScans(bodies: readonly Buffer[], times: number): { readonly hits: number; readonly seconds: number } {
  const hits = bodies.reduce((sum, body) => sum + scanOne(body), 0);
  const seconds = timed(() => {
    for (let time = 0; time < times; time++) for (const body of bodies) scanOne(body);
  });
  return { hits, seconds };
}

function scanAll(bodies: readonly Buffer[], bytes: number): Measurement {
  const { hits, seconds } = timedScans(bodies, 1);
  const worst = ADVERSARIAL.map((body) => timed(() => scanOne(body)) * 1000);
  return {
    value: bytes / 1e6 / seconds,
    also: { megabytes: bytes / 1e6, hits_per_mb: hits / (bytes / 1e6), worst_ms: Math.max(...worst), detectors: ENABLED.length },
  };
}

/** Full of the starts of matches, so that the scan checks as many candidates as possible. */
const ADVERSARIAL = [
  "1",
  "4111 ",
  "4111-",
  "4111111111111112 ",
  "AB12",
  "AB12 ",
  "passport 1234567 ",
  "eyJa.",
  "eyJhbGciOiJIUzI1NiJ9.",
  "ghp_",
  "-----BEGIN ",
  "api_key=",
  "1.2.",
  "1a",
  "%1",
  "<a 123456789 ",
  "<b>passnummer</b> <i>12345678901</i>",
  "passnummer 12345678901,",
  `<${"'12345678901'".repeat(22)}`,
  `${"㎂".repeat(20)}"123456789"<`,
  "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa ",
  "<b>bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq</b>",
  "postgres://a:b",
  "1</b>",
  "a1<wbr>",
  "&#52;",
  "&#1087;",
  "\\u0034",
  "passport 1<b>234567</b> ",
].map((part) => Buffer.alloc(BODY_BYTES_MAX, part));

/** The formats only: ripgrep's engine has no look-ahead, and templates become patterns. */
function patternsOf({ anchors, patterns }: Detector): readonly string[] {
  const templates = anchors.flatMap((anchor) => (anchor.kind === "chain" ? anchor.templates : []));
  const forms = templates.map((template) => [...template].map((char) => FORMS[char] ?? char.replace(/[.(]/, "\\$&")).join(""));
  return [
    ...forms.map((form) => `\\b${form}\\b`),
    ...patterns
      .flatMap((pattern) => (pattern instanceof RegExp ? [pattern.source] : []))
      .map((source) => source.replace(/\(\?[!=](?:\[[^\]]*\]|[^()])*\)/g, "").replaceAll("\\/", "/")),
  ].filter((pattern) => !/\(\?[!=]|\\\d(?!\d)/.test(pattern));
}

const FORMS: Readonly<Record<string, string>> = { "#": "[0-9]", A: "[A-Za-z]", "*": "[A-Za-z0-9]", "~": "[-. ]" };

const SECRETLINT = { rules: [{ id: "@secretlint/secretlint-rule-preset-recommend", rule: recommended }] };

async function secretlint(bodies: readonly Buffer[]): Promise<Measurement> {
  const bytes = sizeOf(bodies);
  const contents = bodies.map((body) => body.toString());
  const before = process.cpuUsage();
  let hits = 0;
  for (const content of contents) {
    const source = { filePath: "body.txt", ext: ".txt", contentType: "text" as const, content };
    const { messages } = await lintSource({ source, options: { config: SECRETLINT, noPhysicFilePath: true } });
    hits += messages.length;
  }
  const { user, system } = process.cpuUsage(before);
  return { value: bytes / (user + system), also: { hits_per_mb: hits / (bytes / 1e6) } };
}

async function ripgrep(patterns: string, corpus: string, bytes: number): Promise<Measurement> {
  const command = '"$0" --threads 1 --no-unicode --text --count --file "$1" "$2"; times';
  const { stdout } = await execute("bash", ["-c", command, toolPath("rg"), patterns, corpus], { timeout: RUN_TIMEOUT_MS });
  const [user = "", system = ""] = stdout.trim().split("\n").at(-1)?.split(" ") ?? [];
  return { value: bytes / 1e6 / (secondsOf(user) + secondsOf(system)) };
}

/** `1m2.345s`, as bash prints it. */
function secondsOf(text: string): number {
  const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(text) ?? [];
  return Number(minutes) * 60 + Number(seconds);
}

function filesOf(folder: string, names: RegExp, bytesMax: number): Buffer[] {
  const found: Buffer[] = [];
  let bytes = 0;
  const walk = (directory: string): void => {
    for (const entry of entriesOf(directory)) {
      if (bytes >= bytesMax) return;
      const path = join(directory, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile() && names.test(entry.name)) {
        const body = readFileSync(path).subarray(0, BODY_BYTES_MAX);
        found.push(body);
        bytes += body.length;
      }
    }
  };
  walk(folder);
  return found;
}

function entriesOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}
