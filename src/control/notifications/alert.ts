/** What an alert says, whoever it is sent to. */
export interface Alert {
  /** One line. */
  readonly subject: string;
  readonly text: string;
  /** The same for programs. */
  readonly data: Readonly<Record<string, string | number>>;
}

export interface SpikeFacts {
  readonly zone: { readonly id: string; readonly name: string };
  /** Null where the services are not told apart. */
  readonly service: string | null;
  readonly count: number;
  readonly mean: number;
  readonly startMs: number;
  readonly endMs: number;
}

const NUMBER = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

export function spikeAlert({ zone, service, count, mean, startMs, endMs }: SpikeFacts): Alert {
  const what = service === null ? "Security events" : `Security events of ${service}`;
  const [start, end] = [new Date(startMs).toISOString(), new Date(endMs).toISOString()];
  const minutes = (endMs - startMs) / 60_000;
  return {
    subject: `${what} in ${zone.name}: ${NUMBER.format(count)} in ${minutes} minutes`,
    text: `${what} in ${zone.name} rose to ${NUMBER.format(count)} between ${start} and ${end}. At this hour ${NUMBER.format(mean)} in ${minutes} minutes are usual.`,
    data: {
      zone_id: zone.id,
      zone_name: zone.name,
      ...(service === null ? {} : { service }),
      events: count,
      usual_events: Math.round(mean * 10) / 10,
      start,
      end,
    },
  };
}

export const testAlert = (policyName: string): Alert => ({
  subject: `Test of the notification policy ${policyName}`,
  text: `This is a test of the notification policy ${policyName}. Nothing has happened.`,
  data: { test: "true" },
});
