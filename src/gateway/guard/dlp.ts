import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import { createSlices, type Slices, type Work } from "#kernel/process/slices.ts";
import type { ScanResult } from "#rules/detectors/engine/scan.ts";
import type { Finding } from "#rules/detectors/engine/tallies.ts";
import type { GatewayEntry } from "#snapshot/entries.ts";
import { type GatewayErrorName, RefusalError } from "#gateway/http/errors.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import type { AnswerTransform, MakeTransform, ReadyBody } from "#gateway/request/plan.ts";
import { type Action, type Check, createPolicySides, type Side, type Sides } from "./dlp-policies.ts";
import type { DlpProfiles } from "./dlp-profiles.ts";
import { StreamGuard } from "./stream-guard.ts";
import { scanWhole } from "./whole-scan.ts";

/** Data loss prevention for one request: inspects it before it is sent, and inspects its answer. */
export interface Inspection {
  /** Rejects with a RefusalError for a request that a policy blocks. */
  checkRequest(body: ReadyBody): Promise<void>;
  /** Transforms that the answer passes through. */
  readonly transforms: readonly MakeTransform[];
  /** Header fields of the answer that name the findings so far. */
  fields(): FlatHeaders;
}

export interface DataLossPrevention {
  /** Undefined for a gateway without policies. `onAction` is called with the action taken on the request. */
  inspect(gateway: GatewayEntry, onAction: (action: Action) => void): Inspection | undefined;
}

const BLOCKED: Readonly<Record<Check, GatewayErrorName>> = { REQUEST: "aig_dlp_request_blocked", RESPONSE: "aig_dlp_response_blocked" };

export function createDataLossPrevention({
  vendorPrefix,
  profiles,
  slices = createSlices(),
}: {
  readonly vendorPrefix: string;
  readonly profiles: DlpProfiles;
  readonly slices?: Slices;
}): DataLossPrevention {
  const sidesOf = createPolicySides(profiles);
  return {
    inspect: ({ account_id, dlp }, onAction) =>
      dlp === undefined ? undefined : new RequestInspection(slices, sidesOf(account_id, dlp), `${vendorPrefix}-aig-dlp`, onAction),
  };
}

/** Bytes of an answer that is inspected whole; a larger one cannot be, so a blocking policy refuses it. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
/**
 * Bytes of an answer under a flagging policy that wait until they are inspected, so that its header fields can name the
 * findings.
 */
const FLAGGED_BYTES_HELD = 64 * 1024;
const LIST_BEGINNING_BYTES = 16;

class RequestInspection implements Inspection {
  readonly #slices: Slices;
  readonly #sides: Sides;
  readonly #fieldName: string;
  readonly #onAction: (action: Action) => void;
  readonly #found: { readonly check: Check; readonly action: Action; readonly findings: readonly object[] }[] = [];

  constructor(slices: Slices, sides: Sides, fieldName: string, onAction: (action: Action) => void) {
    this.#slices = slices;
    this.#sides = sides;
    this.#fieldName = fieldName;
    this.#onAction = onAction;
  }

  async checkRequest(body: ReadyBody): Promise<void> {
    const { BLOCK, FLAG } = this.#sides.REQUEST;
    if (BLOCK === undefined && FLAG === undefined) return;
    if (body.kind === "stream") {
      // Too long to be inspected before it is sent.
      if (BLOCK !== undefined) throw new RefusalError({ name: "aig_body_too_large" });
      return;
    }
    await this.#slices.run(this.#checkBytes("REQUEST", body.bytes));
  }

  get transforms(): readonly MakeTransform[] {
    const { BLOCK, FLAG } = this.#sides.RESPONSE;
    if (BLOCK === undefined && FLAG === undefined) return [];
    return [
      ({ status, headers }) => {
        const encoding = headers["content-encoding"] ?? "identity";
        if (encoding !== "identity" && BLOCK !== undefined) throw new RefusalError({ name: "aig_answer_unreadable" });
        if (status >= 400 || encoding !== "identity") return undefined;
        const type = String(headers["content-type"] ?? "");
        if (/^text\/event-stream\b/i.test(type)) return this.#streamGuard(BLOCK, FLAG);
        // Text in binary frames, which is not inspected.
        if (/^application\/vnd\.amazon\.eventstream\b/i.test(type) && BLOCK !== undefined)
          throw new RefusalError({ name: "aig_answer_unreadable" });
        return /^(?:application\/(?:[a-z.+-]*json|x-ndjson)|text\/)/i.test(type) ? this.#wholeGuard(BLOCK !== undefined, type) : undefined;
      },
    ];
  }

  fields(): FlatHeaders {
    const findings = this.#found.flatMap((found) => found.findings);
    if (findings.length === 0) return [];
    const action = this.#found.some((found) => found.action === "BLOCK") ? "BLOCK" : "FLAG";
    return [this.#fieldName, JSON.stringify({ findings, action })];
  }

  #wholeGuard(isBlocking: boolean, type: string): AnswerTransform {
    const gathered = new GatheredBytes();
    const held = new GatheredBytes();
    let size = 0;
    let heldMax = /^application\/json\b/i.test(type) ? FLAGGED_BYTES_HELD : 0;
    return {
      head: (head) => head,
      chunk: (bytes) => {
        // A list may arrive in several chunks, like a stream.
        if (size === 0 && /^\s*\[/.test(bytes.toString("latin1", 0, LIST_BEGINNING_BYTES))) heldMax = 0;
        size += bytes.length;
        if (size > ANSWER_BYTES_MAX && isBlocking) throw new RefusalError({ name: "aig_answer_unreadable" });
        if (size <= ANSWER_BYTES_MAX) gathered.push(bytes);
        held.push(bytes);
        return isBlocking || size <= heldMax ? undefined : held.take();
      },
      end: () => held.take(),
      verdict: () => this.#slices.run(this.#checkBytes("RESPONSE", gathered.take())),
    };
  }

  #streamGuard(block: Side | undefined, flag: Side | undefined): AnswerTransform {
    const guard = (side: Side, action: Action): StreamGuard =>
      new StreamGuard({
        slices: this.#slices,
        watched: side.watched,
        holdsBack: action === "BLOCK",
        onResults: (results) => this.#judge("RESPONSE", action, side, results),
      });
    const guards = [...(flag === undefined ? [] : [guard(flag, "FLAG")]), ...(block === undefined ? [] : [guard(block, "BLOCK")])];
    const [first, second] = guards;
    return first === undefined || second === undefined ? (first as AnswerTransform) : bothGuards(first, second);
  }

  *#checkBytes(check: Check, bytes: Buffer): Work<void> {
    const { BLOCK, FLAG } = this.#sides[check];
    const sides = [BLOCK, FLAG].filter((side) => side !== undefined);
    const results = yield* scanWhole(
      bytes,
      sides.map(({ compiled }) => compiled),
    );
    // Flags first, so that a refusal names them too.
    for (const [action, side] of [
      ["FLAG", FLAG],
      ["BLOCK", BLOCK],
    ] as const)
      if (side !== undefined) this.#judge(check, action, side, [results[sides.indexOf(side)] as ScanResult]);
  }

  #judge(check: Check, action: Action, side: Side, results: readonly ScanResult[]): void {
    const findings = results.flatMap((result) => result.findings);
    if (findings.length === 0 && !results.some(({ limited }) => limited)) return;
    this.#found.push({ check, action, findings: described(check, side, findings) });
    this.#onAction(action);
    if (action === "BLOCK") throw new RefusalError({ name: BLOCKED[check], headers: this.fields() });
  }
}

/** The first one holds nothing back. */
const bothGuards = (first: StreamGuard, second: StreamGuard): AnswerTransform => ({
  head: (head) => head,
  chunk: (bytes) => second.chunk(first.chunk(bytes) ?? bytes),
  end: () => {
    first.end();
    return second.end();
  },
  get work() {
    return first.work ?? second.work;
  },
  worked: () => {
    first.worked();
    return second.worked();
  },
});

/** The content of the header field: profiles and their entries, never the matched text. */
function described(check: Check, { policies, profiles }: Side, findings: readonly Finding[]): readonly object[] {
  const detectors = new Set(findings.map(({ detector }) => detector));
  return Array.from(profiles).flatMap(([id, own]) => {
    const entry_ids = own.filter((detector) => detectors.has(detector)).map((detector) => detector.rule_id);
    if (entry_ids.length === 0) return [];
    const policy_ids = policies.filter((policy) => policy.profiles.includes(id)).map((policy) => policy.id);
    return [{ profile: { context: {}, entry_ids, profile_id: id }, policy_ids, check }];
  });
}
