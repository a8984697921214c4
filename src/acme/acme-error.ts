/** How an authority refused or failed to answer (RFC 8555 §6.7). */
export class AcmeError extends Error {
  /**
   * The part after `urn:ietf:params:acme:error:`, such as `caa`; `unavailable` without an answer, `malformed_answer` for
   * an unreadable one.
   */
  readonly type: string;
  /** Status of the answer; 0 without one. */
  readonly status: number;
  /** Milliseconds until the authority wants the next request; null if it does not say. */
  readonly retryAfterMs: number | null;
  /** The names and reasons of an error about several names (RFC 8555 §6.7.1). */
  readonly subproblems: readonly AcmeProblem[];

  constructor(
    problem: AcmeProblem,
    more: { status?: number; retryAfterMs?: number | null; subproblems?: readonly AcmeProblem[]; cause?: unknown } = {},
  ) {
    const [type, detail] = [typeName(problem.type), plain(problem.detail)];
    super(`${type}: ${detail}`, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "AcmeError";
    this.type = type;
    this.status = more.status ?? 0;
    this.retryAfterMs = more.retryAfterMs ?? null;
    this.subproblems = more.subproblems ?? [];
  }
}

export interface AcmeProblem {
  readonly type: string;
  readonly detail: string;
}

const PREFIX = "urn:ietf:params:acme:error:";
const DETAIL_LENGTH_MAX = 1_000;
const TYPE = /^[A-Za-z0-9_-]{1,64}$/;

const typeName = (name: string): string => (TYPE.test(name) ? name : "serverInternal");

/** Users read it in terminals, mails and lists, and databases store it: text of one line, whatever the authority sent. */
const plain = (text: string): string => text.slice(0, DETAIL_LENGTH_MAX).toWellFormed().replace(UNSEEN, " ");
// linear: at most 4000 bytes (a cut text)
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A problem document (RFC 9457), read from any value. */
export function problemOf(value: unknown, fallback: string): AcmeProblem {
  const { type, detail, title } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const name = typeof type === "string" && type.startsWith(PREFIX) ? type.slice(PREFIX.length) : "serverInternal";
  const text = typeof detail === "string" ? detail : typeof title === "string" ? title : fallback;
  return { type: typeName(name), detail: plain(text) };
}

/** The `subproblems` of a problem document. */
export function subproblemsOf(value: unknown): readonly AcmeProblem[] {
  const list = (value as { subproblems?: unknown } | null)?.subproblems;
  return Array.isArray(list) ? list.slice(0, 100).map((item) => problemOf(item, "the authority gave no reason")) : [];
}
