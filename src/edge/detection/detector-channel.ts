import { type BodyKind, planText, type ScanScope } from "./scan-plan.ts";
import { RECORD_BYTES_MAX, type RingWriter } from "./ring.ts";

/** Limit of a body's piece, and of a subject; heads are limited to 32 KB, of which a subject is a part. */
export const CHUNK_BYTES_MAX = RECORD_BYTES_MAX / 2;
/** After this many, all plans are forgotten and sent again. */
const PLANS_MAX = 1024;
/** Known kinds of bodies that are searched per scope: an origin may invent any number. */
const KINDS_MAX = 16;
/** The job of records that send plans. */
export const NO_JOB = 0;
const NO_BYTES = new Uint8Array(0);

/** The connection to one detector, and the plans that it knows, by the labels of records. */
export class DetectorChannel {
  readonly ring: RingWriter;
  /** Bodies of which the detector got a part, without those that were cut short. */
  begun = 0;
  private readonly known = new Map<ScanScope, KnownPlan[]>();
  /** The plan that was used last. */
  private last: (KnownPlan & { readonly scope: ScanScope }) | null = null;
  private count = 0;

  constructor(ring: RingWriter) {
    this.ring = ring;
  }

  /** Number of bodies that the detector has not finished. */
  unfinished(): number {
    // Both counters wrap at 32 bits.
    return (this.begun - this.ring.done()) | 0;
  }

  /** The label of records with this plan, which is sent first if the detector lacks it; -1 if the ring is full. */
  planFor(scope: ScanScope, kind: BodyKind): number {
    const { last } = this;
    if (last !== null && last.scope === scope && isSame(last.kind, kind)) return last.label;
    const label = this.known.get(scope)?.find((plan) => isSame(plan.kind, kind))?.label ?? this.tell(scope, kind);
    this.last = label < 0 ? null : { scope, kind, label };
    return label;
  }

  private tell(scope: ScanScope, kind: BodyKind): number {
    const text = planText(scope, kind);
    if (text.length > CHUNK_BYTES_MAX) return -1;
    if (this.count === PLANS_MAX) {
      this.known.clear();
      this.count = 0;
    }
    const label = this.count;
    if (!this.ring.write(NO_JOB, label, text, NO_BYTES, 0, 0, false)) return -1;
    this.count++;
    const plans = this.known.get(scope) ?? [];
    if (plans.length === KINDS_MAX) plans.length = 0;
    plans.push({ kind, label });
    this.known.set(scope, plans);
    return label;
  }
}

interface KnownPlan {
  readonly kind: BodyKind;
  readonly label: number;
}

const isSame = (one: BodyKind, other: BodyKind): boolean =>
  one.content_type === other.content_type &&
  one.charset === other.charset &&
  one.content_encoding === other.content_encoding &&
  one.cut === other.cut;
