/** One benchmark: a row of the table in benchmarks.ts. */
export interface Benchmark {
  readonly name: string;
  /** Unit of one value: `creates/s`. */
  readonly unit: string;
  readonly better: "higher" | "lower";
  /** The project's own goal, where it has set one. */
  readonly target?: number;
  /** The goal for our value divided by that of the peer of this name. */
  readonly targetRatio?: { readonly peer: string; readonly ratio: number };
  /** Two peers that are the same: what their ratio differs from 1 is what no ratio of the run tells. */
  readonly noise?: readonly [string, string];
  /** Programs of tools/system-tools.ts without which the row is left out. */
  readonly tools: readonly string[];
  /** How often each side is measured, where nobody says; otherwise 5 times. */
  readonly rounds?: number;
  /** Limit of the rounds, if one measurement takes long. */
  readonly roundsMax?: number;
  /** If the effect of the first work is measured: each side runs once, without a turn before it. */
  readonly isOnce?: boolean;
  prepare(context: BenchContext): Promise<Contest>;
}

export interface BenchContext {
  /** How long one measurement loads its server. */
  readonly seconds: number;
  /** A directory for this benchmark alone, gone afterwards. */
  readonly directory: string;
}

/** Servers that run, ready to be measured in turns. */
export interface Contest {
  readonly ours: Contender;
  /** Other people's servers doing the same work in the same run; a ratio is told for each. */
  readonly peers?: readonly Contender[];
  /** A summary of all rounds, in lines: for results that the values of single rounds do not show. */
  conclude?(): readonly string[];
  close(): Promise<void>;
}

export interface Contender {
  readonly name: string;
  run(): Promise<Measurement>;
}

export interface Measurement {
  readonly value: number;
  /** Other figures of the same round, named with their unit: `latency_p99_ms`. */
  readonly also?: Readonly<Record<string, number>>;
}
