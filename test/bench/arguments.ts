import { parseArgs } from "node:util";
import type { Benchmark } from "./benchmark.ts";

/** Arguments of `npm run bench -- …`. */
export interface BenchArguments {
  /** Of the benchmarks to run; empty: all of them. */
  readonly names: readonly string[];
  /** Undefined: as many as each benchmark has by itself. */
  readonly rounds: number | undefined;
  readonly seconds: number;
}

/** The text that the user gets instead of a run, and the exit code. */
export interface BenchAdvice {
  readonly text: string;
  readonly code: 0 | 2;
}

const SECONDS = 3;

export function readArguments(argv: readonly string[], benchmarks: readonly Benchmark[]): BenchArguments | BenchAdvice {
  const wrong = (text: string): BenchAdvice => ({ text: `${text}; see npm run bench -- --help`, code: 2 });
  let given: ReturnType<typeof parsed>;
  try {
    given = parsed(argv);
  } catch (error) {
    return wrong((error as Error).message.replace(/\. .*/s, ""));
  }
  const { values, positionals: names } = given;
  if (values.help === true) return { text: usage(benchmarks), code: 0 };
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0))
    return wrong(`--rounds must be a whole number from 1 on, not ${values.rounds}`);
  const seconds = values.seconds === undefined ? SECONDS : Number(values.seconds);
  if (!(seconds > 0 && seconds < Infinity)) return wrong(`--seconds must be a number above 0, not ${values.seconds}`);
  const unknown = names.filter((name) => !benchmarks.some((row) => row.name === name));
  if (unknown.length > 0) return wrong(`no benchmark is called ${unknown.join(", ")}`);
  return { names, rounds, seconds };
}

const parsed = (argv: readonly string[]) =>
  parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { rounds: { type: "string" }, seconds: { type: "string" }, help: { type: "boolean" } },
  });

function usage(benchmarks: readonly Benchmark[]): string {
  const width = Math.max(...benchmarks.map(({ name }) => name.length));
  return `Usage: npm run bench -- [options] [name…]

Measures hot paths, in turns with other people's servers where there are any, and
writes the figures to bench-results/. Without names, everything: most of an hour.

Options:
  --rounds <count>   how often each side is measured (default: 5 for most)
  --seconds <time>   how long one measurement loads its server (default: ${SECONDS})
  --help             show this

Benchmarks:
${benchmarks.map(({ name, unit, better }) => `  ${name.padEnd(width)}  ${unit}, ${better} is better`).join("\n")}`;
}
