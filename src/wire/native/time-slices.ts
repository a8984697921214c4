/** Scheduling attributes of a thread of this process. Thread 0 is the calling thread. */
export interface TimeSlices {
  /** The requested time slice in nanoseconds; 0 without a request, and on kernels before 6.12. */
  sliceNs(thread?: number): number;
  /** Requests time slices of this length (sched_setattr(2)) and keeps other attributes. Returns whether the kernel accepted it. */
  askFor(sliceNs: number, thread?: number): boolean;
}

/** Numbers of the system calls sched_getattr(2) and sched_setattr(2). */
const CALLS: Readonly<Record<string, readonly [get: number, set: number]>> = { "linux-x64": [315, 314], "linux-arm64": [275, 274] };

/** The first version of struct sched_attr, and the offsets of its policy and `sched_runtime`. */
const ATTRIBUTES_BYTES = 48;
const POLICY_AT = 4;
const RUNTIME_AT = 24;
/** The policy of ordinary threads, for which `sched_runtime` is the slice. */
const SCHED_OTHER = 0;

/**
 * On a busy CPU, a thread with short slices is scheduled sooner, without a larger share: the kernel picks the thread
 * whose slice would end first, and lets it preempt one with longer slices. In the same way, a thread with long slices
 * lets others run sooner. Undefined if koffi is not available or the platform is unknown.
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
        // The operator gave the thread another policy.
        if (!isOrdinary(thread)) return false;
        attributes.setBigUint64(RUNTIME_AT, BigInt(wantedNs), true);
        return set(calls[1], thread, attributes.buffer, 0) === 0 && sliceNs(thread) === wantedNs;
      },
    };
  } catch {
    return undefined;
  }
}
