import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, release, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findTool, provideTools } from "../../tools/system-tools.ts";
import { readArguments } from "./arguments.ts";
import type { Benchmark, Contender, Measurement } from "./benchmark.ts";
import { BENCHMARKS } from "./benchmarks.ts";
import { median, pairedRatio, quantile } from "./statistics.ts";

interface Side {
  readonly name: string;
  readonly rounds: Measurement[];
}

interface Result {
  readonly benchmark: Benchmark;
  readonly ours: Side;
  readonly peers: readonly Side[];
  readonly conclusions: readonly string[];
}

/** The longest is "to nginx, tuned". */
const NAME_WIDTH = 15;
const ROUNDS = 5;
const root = dirname(dirname(import.meta.dirname));
const asked = readArguments(process.argv.slice(2), BENCHMARKS);
if ("text" in asked) {
  (asked.code === 0 ? console.log : console.error)(asked.text);
  process.exit(asked.code);
}
const { names, ...flags } = asked;

provideTools("bench");
const results: Result[] = [];
for (const row of BENCHMARKS) {
  if (names.length > 0 && !names.includes(row.name)) continue;
  const missing = row.tools.filter((tool) => findTool(tool) === undefined);
  if (missing.length > 0) console.log(`${row.name}: left out, ${missing.join(" and ")} is not installed`);
  else results.push(await measure(row));
}
if (results.length > 0) save(results);

/** Ours and the peers alternate, so that the machine's variations affect all of them. */
async function measure(benchmark: Benchmark): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), `selvedge-bench-${benchmark.name}-`));
  const contest = await benchmark.prepare({ seconds: flags.seconds, directory });
  try {
    const sides: { readonly contender: Contender; readonly side: Side }[] = [contest.ours, ...(contest.peers ?? [])].map((contender) => ({
      contender,
      side: { name: contender.name, rounds: [] },
    }));
    // The first round of each warms caches and the compiler up.
    if (benchmark.isOnce !== true && benchmark.isFirst !== true) for (const { contender } of sides) await contender.run();
    const roundsMax = benchmark.isOnce === true ? 1 : (benchmark.roundsMax ?? Infinity);
    const rounds = Math.min(flags.rounds ?? benchmark.rounds ?? ROUNDS, roundsMax);
    for (let round = 0; round < rounds; round++) {
      for (const { contender, side } of sides) side.rounds.push(await contender.run());
    }
    const [ours, ...peers] = sides;
    if (!ours) throw new Error("nothing was measured");
    const result = { benchmark, ours: ours.side, peers: peers.map(({ side }) => side), conclusions: contest.conclude?.() ?? [] };
    print(result);
    return result;
  } finally {
    await contest.close();
    await rm(directory, { recursive: true, force: true });
  }
}

function print({ benchmark, ours, peers, conclusions }: Result): void {
  const target = benchmark.target === undefined ? "" : `, target ${benchmark.target}`;
  console.log(`${benchmark.name} (${benchmark.unit}, ${benchmark.better} is better${target})`);
  for (const side of [ours, ...peers]) console.log(`  ${side.name.padEnd(NAME_WIDTH)} ${describe(side)}`);
  for (const peer of peers) {
    const goal = benchmark.targetRatio?.peer === peer.name ? `, target ${benchmark.targetRatio.ratio}` : "";
    console.log(`  ${`to ${peer.name}`.padEnd(NAME_WIDTH)} ${ratio(ours, peer)}${goal}`);
  }
  for (const line of conclusions) console.log(`  ${line}`);
  const [one, other] = peers.filter(({ name }) => benchmark.noise?.includes(name));
  if (one === undefined || other === undefined) return;
  console.log(`  ${"noise".padEnd(NAME_WIDTH)} ${ratio(one, other)}`);
  const [values, same, again] = [ours, one, other].map(({ rounds }) => rounds.map(({ value }) => value)) as [number[], number[], number[]];
  const both = same.map((value, index) => Math.sqrt(value * (again[index] ?? Number.NaN)));
  console.log(`  ${"in pairs".padEnd(NAME_WIDTH)} ${likely(values, both)} to both of them, ${likely(same, again)} of one to the other`);
}

/** The ratio of the medians, with the quartiles of the rounds' ratios. */
function ratio(side: Side, peer: Side): string {
  const each = side.rounds.map((round, index) => round.value / (peer.rounds[index]?.value ?? Number.NaN));
  return `${number(middle(side) / middle(peer))}, half of the rounds from ${number(quantile(each, 0.25))} to ${number(quantile(each, 0.75))}`;
}

/** The mean ratio of the rounds, with its confidence interval if the rounds vary only randomly. */
function likely(values: readonly number[], others: readonly number[]): string {
  const { middle: mean, low, high } = pairedRatio(values, others);
  return `${number(mean)} (95 %: ${number(low)} to ${number(high)})`;
}

function describe(side: Side): string {
  const values = side.rounds.map((round) => round.value);
  const also = Object.keys(side.rounds[0]?.also ?? {}).map(
    (key) => `${key} ${number(median(side.rounds.map((round) => round.also?.[key] ?? Number.NaN)))}`,
  );
  return [`median ${number(median(values))}`, `from ${number(Math.min(...values))} to ${number(Math.max(...values))}`, ...also].join(", ");
}

function middle(side: Side): number {
  return median(side.rounds.map((round) => round.value));
}

function number(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function save(all: readonly Result[]): void {
  const commit = execFileSync("git", ["describe", "--always", "--dirty"], { cwd: root, encoding: "utf8" }).trim();
  const at = new Date().toISOString();
  const machine = { cpu: cpus()[0]?.model ?? "", cores: cpus().length, kernel: release(), node: process.versions.node };
  const rows = all.map(({ benchmark, ours, peers, conclusions }) => ({
    name: benchmark.name,
    unit: benchmark.unit,
    ours,
    peers,
    conclusions,
  }));
  const folder = join(root, "bench-results");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${at.replaceAll(/[:.]/g, "-")}.json`);
  writeFileSync(file, `${JSON.stringify({ at, commit, machine, flags, results: rows }, null, 2)}\n`);
  console.log(`written to ${file}`);
}
