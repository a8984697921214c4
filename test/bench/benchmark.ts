/** One benchmark: a row of the table in benchmarks.ts. */
export interface Benchmark {
  readonly name: string;
  /** Unit of one value: `creates/s`. */
  readonly unit: string;
  readonly better: "higher" | "lower";
  /** The project's own goal, if it has one. */
  readonly target?: number;
  /** The goal for our value divided by that of the peer of this name. */
  readonly targetRatio?: { readonly peer: string; readonly ratio: number };
  /** Two equal peers: the deviation of their ratio from 1 is the resolution of the run. */
  readonly noise?: readonly [string, string];
  /** Programs of tools/system-tools.ts that the row needs; it is skipped without them. */
  readonly tools: readonly string[];
  /** Number of measurements of each side; 5 by default. */
  readonly rounds?: number;
  /** Limit of the rounds, if one measurement takes long. */
  readonly roundsMax?: number;
  /** Each measurement starts its servers: a round before the first would warm nothing up. */
  readonly isFirst?: boolean;
  /** Measures the effect of the first work: each side runs once, without a warm-up round. */
  readonly isOnce?: boolean;
  prepare(context: BenchContext): Promise<Contest>;
}

export interface BenchContext {
  /** How long one measurement loads its server. */
  readonly seconds: number;
  /** A directory for this benchmark alone, gone afterwards. */
  readonly directory: string;
}

/** Servers that run, to be measured in alternation. */
export interface Contest {
  readonly ours: Contender;
  /** Other programs that do the same work in the same run; a ratio is printed for each. */
  readonly peers?: readonly Contender[];
  /** A summary of all rounds in lines, for results that the values of single rounds do not show. */
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
