/** One sample in Prometheus's format. */
export interface MetricSample {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A number that hot paths change with `value += n`, without a call or an allocation. */
export interface Metric {
  value: number;
}

/** Metrics of one thread. The main thread collects and renders the samples of all threads. */
export interface MetricRegistry {
  counter(name: string, help: string, labels?: Readonly<Record<string, string>>): Metric;
  gauge(name: string, help: string, labels?: Readonly<Record<string, string>>): Metric;
  samples(): readonly MetricSample[];
}

export function createMetrics(): MetricRegistry {
  const rows = new Map<string, { readonly sample: Omit<MetricSample, "value">; readonly metric: Metric }>();
  const register = (type: "counter" | "gauge", name: string, help: string, labels: Readonly<Record<string, string>> = {}): Metric => {
    const key = `${name} ${JSON.stringify(labels)}`;
    const known = rows.get(key);
    if (known) return known.metric;
    const metric: Metric = { value: 0 };
    rows.set(key, { sample: { name, help, type, labels }, metric });
    return metric;
  };
  return {
    counter: (name, help, labels) => register("counter", name, help, labels),
    gauge: (name, help, labels) => register("gauge", name, help, labels),
    samples: () => Array.from(rows.values(), (row) => ({ ...row.sample, value: row.metric.value })),
  };
}
