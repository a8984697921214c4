import { createHash } from "node:crypto";
import { beginCharging, endCharging, isStepsSpent } from "#rules/budget.ts";
import type { SecLangEngine } from "#rules/seclang/run/engine.ts";
import { transactionOf } from "./test-transaction.ts";
import type { StageInput } from "./regression-tests.ts";

/** A body that took long. */
export interface SlowBody {
  readonly bytes: number;
  readonly cpuMs: number;
  readonly piece: string;
  /** Its rules had spent their steps: at the edge the request ends there. */
  readonly isSpent: boolean;
}

/** Pieces to fill a value with: texts from the patterns, and byte classes that many repetitions match. */
export function piecesOf(patterns: readonly string[]): readonly string[] {
  const pieces = new Set([
    " ",
    "a",
    "0",
    "{",
    "(",
    "<",
    "'",
    '"',
    "\\",
    "%",
    "/",
    ".",
    ";",
    "-",
    "=",
    "a ",
    "a,",
    "a=",
    "((",
    "/*",
    "a.",
    "%25",
  ]);
  for (const pattern of patterns) for (const [literal] of pattern.matchAll(/[A-Za-z_<>'"{}()=;:/.-]{2,12}/g)) pieces.add(literal);
  return [...pieces];
}

/** The same pieces, one after another or two alternating, for the same seed. */
export function pumped(
  pieces: readonly string[],
  bytes: number,
  seed: string,
  number: number,
): { readonly piece: string; readonly body: string } {
  const draw = createHash("sha256").update(`${seed} ${number}`).digest();
  const pick = (at: number): string => pieces[draw.readUInt32BE(at) % pieces.length]!;
  const piece = draw[12]! % 2 === 0 ? pick(0) : pick(0) + pick(4);
  const text = piece.repeat(Math.ceil(bytes / piece.length)).slice(0, bytes - 16);
  return { piece, body: `a=${encodeURIComponent(pick(8)).slice(0, 12)}${text.replaceAll("&", "%26")}!` };
}

/** CPU time of one form with all rules at paranoia level 4, under the budget of steps of the edge. */
export function timeBody(engine: SecLangEngine, body: string, piece: string): SlowBody {
  const headers = [["Host", "a.example"] as const, ["User-Agent", "x"] as const, ["Accept", "*/*"] as const];
  const input: StageInput = { method: "POST", uri: "/", version: "HTTP/1.1", headers, data: body, completesHeaders: true, encoded: "" };
  const level = "4";
  const transaction = engine.begin(transactionOf(input), {
    detectsOnly: true,
    hasTexts: false,
    variables: { blocking_paranoia_level: level, detection_paranoia_level: level, paranoia_level: level, executing_paranoia_level: level },
  });
  const spending = { steps: 0, exhausted: null };
  let isSpent = false;
  const before = process.cpuUsage();
  beginCharging(spending, "request");
  try {
    transaction.requestHeaders();
    transaction.requestBody();
  } catch (error) {
    if (!isStepsSpent(error)) throw error;
    isSpent = true;
  } finally {
    endCharging(spending);
  }
  const { user, system } = process.cpuUsage(before);
  return { bytes: body.length, cpuMs: (user + system) / 1000, piece, isSpent };
}
