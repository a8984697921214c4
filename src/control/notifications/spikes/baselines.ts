import type { EventCounts } from "./event-counts.ts";
import { historyOf } from "./spikes.ts";
import type { Subject } from "./subjects.ts";

/** The counts with which a window is compared. */
export interface Baselines {
  /** One count for each window in the history of the window that begins at `startMs`. */
  of(subject: Subject, startMs: number): Promise<readonly number[]>;
}

/** Hours of past days are read once per hour for all looks: they no longer change, and are seven of eight queries. */
export function createBaselines(counts: EventCounts): Baselines {
  let hourMs = Number.NaN;
  const days = new Map<string, readonly number[]>();
  return {
    of: async (subject, startMs) => {
      const { kind, key, zone, service } = subject;
      const read = ({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): Promise<readonly number[]> =>
        counts.windows(kind, zone.id, service, fromMs, toMs);
      const [before, ...hours] = historyOf(startMs);
      const hour = hours[0]?.fromMs ?? Number.NaN;
      if (hour !== hourMs) days.clear();
      hourMs = hour;
      const name = `${kind} ${key}`;
      const [last, known] = await Promise.all([
        before === undefined ? [] : read(before),
        days.get(name) ?? Promise.all(hours.map(read)).then((counted) => counted.flat()),
      ]);
      if (hour === hourMs) days.set(name, known);
      return [...last, ...known];
    },
  };
}
