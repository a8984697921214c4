import { type OnMissing, reasonOf, unknownPlatform } from "#kernel/process/native-transport.ts";
import { loadKoffi } from "./koffi.ts";
import { LINUX, ofPlatform, STRUCTS, SYSTEM_CALLS } from "./linux.ts";

/** Scheduling attributes of a thread of this process. Thread 0 is the calling thread. */
export interface TimeSlices {
  /** The requested time slice in nanoseconds; 0 without a request, and on kernels before 6.12. */
  sliceNs(thread?: number): number;
  /** Requests time slices of this length (sched_setattr(2)) and keeps other attributes. Returns whether the kernel accepted it. */
  askFor(sliceNs: number, thread?: number): boolean;
}

const { sched_policy: POLICY_AT, sched_runtime: RUNTIME_AT } = STRUCTS.sched_attr;

/**
 * On a busy CPU, a thread with short slices is scheduled sooner, without a larger share: the kernel picks the thread
 * whose slice would end first, and lets it preempt one with longer slices. In the same way, a thread with long slices
 * lets others run sooner. Undefined, with a call of `onMissing`, if koffi is not available or the platform is unknown.
 */
export async function loadTimeSlices(onMissing: OnMissing = () => undefined): Promise<TimeSlices | undefined> {
  const calls = ofPlatform(SYSTEM_CALLS);
  if (calls === undefined) {
    onMissing("time_slices", unknownPlatform());
    return undefined;
  }
  try {
    const koffi = await loadKoffi();
    const libc = koffi.load("libc.so.6");
    const get = libc.func("long syscall(long number, long thread, void *attributes, uint32_t size, uint32_t flags)");
    const set = libc.func("long syscall(long number, long thread, void *attributes, uint32_t flags)");
    const attributes = new DataView(new ArrayBuffer(LINUX.SCHED_ATTR_SIZE_VER0));
    // The policy of ordinary threads, for which `sched_runtime` is the slice.
    const isOrdinary = (thread: number): boolean =>
      get(calls.SYS_sched_getattr, thread, attributes.buffer, LINUX.SCHED_ATTR_SIZE_VER0, 0) === 0 &&
      attributes.getUint32(POLICY_AT, true) === LINUX.SCHED_OTHER;
    const sliceNs = (thread = 0): number => (isOrdinary(thread) ? Number(attributes.getBigUint64(RUNTIME_AT, true)) : 0);
    return {
      sliceNs,
      askFor: (wantedNs, thread = 0) => {
        // The operator set another policy for the thread.
        if (!isOrdinary(thread)) return false;
        attributes.setBigUint64(RUNTIME_AT, BigInt(wantedNs), true);
        return set(calls.SYS_sched_setattr, thread, attributes.buffer, 0) === 0 && sliceNs(thread) === wantedNs;
      },
    };
  } catch (error) {
    onMissing("time_slices", reasonOf(error));
    return undefined;
  }
}
