/** What the system's scheduler keeps of a thread of this process, as far as it matters here. 0 is the calling thread. */
export interface TimeSlices {
  /** Nanoseconds that the thread asked to run at a time; 0 where it did not ask, and on kernels before 6.12. */
  sliceNs(thread?: number): number;
  /** Asks for slices of that length (sched_setattr(2)); all else stays. Whether the system has heard it. */
  askFor(sliceNs: number, thread?: number): boolean;
}

/** Numbers of the system calls to read and to set: sched_getattr(2), sched_setattr(2). */
const CALLS: Readonly<Record<string, readonly [get: number, set: number]>> = { "linux-x64": [315, 314], "linux-arm64": [275, 274] };

/** struct sched_attr in its first version, and where its policy and `sched_runtime` stand. */
const ATTRIBUTES_BYTES = 48;
const POLICY_AT = 4;
const RUNTIME_AT = 24;
/** The policy of ordinary threads, whose `sched_runtime` is the slice; of others it is something else. */
const SCHED_OTHER = 0;

/**
 * A thread that asks for short slices is let on a busy CPU sooner when it has something to do, without a larger share of it:
 * the kernel takes the thread whose slice would end first, and lets it interrupt one with longer slices. One that asks for
 * long slices lets all others on sooner in the same way. Undefined where
 * koffi is not installed or does not load, or the system is not one whose numbers we know.
 */
export async function loadTimeSlices(): Promise<TimeSlices | undefined> {
  const calls = CALLS[`${process.platform}-${process.arch}`];
  if (calls === undefined) return undefined;
  try {
    const { default: koffi } = await import("koffi");
    const libc = koffi.load("libc.so.6");
    const get = libc.func("long syscall(long number, long thread, void *attributes, uint32_t size, uint32_t flags)");
    const set = libc.func("long syscall(long number, long thread, void *attributes, uint32_t flags)");
    const attributes = new DataView(new ArrayBuffer(ATTRIBUTES_BYTES));
    const isOrdinary = (thread: number): boolean =>
      get(calls[0], thread, attributes.buffer, ATTRIBUTES_BYTES, 0) === 0 && attributes.getUint32(POLICY_AT, true) === SCHED_OTHER;
    const sliceNs = (thread = 0): number => (isOrdinary(thread) ? Number(attributes.getBigUint64(RUNTIME_AT, true)) : 0);
    return {
      sliceNs,
      askFor: (wantedNs, thread = 0) => {
        // Whoever gave the thread another policy has decided otherwise.
        if (!isOrdinary(thread)) return false;
        attributes.setBigUint64(RUNTIME_AT, BigInt(wantedNs), true);
        return set(calls[1], thread, attributes.buffer, 0) === 0 && sliceNs(thread) === wantedNs;
      },
    };
  } catch {
    return undefined;
  }
}
