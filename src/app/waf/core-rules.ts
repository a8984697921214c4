import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { coreRulesBytes, type CoreRulesHead, coreRulesHead } from "#rules/managed/rule-material.ts";
import type { Log } from "#app/log/log.ts";
import { programFrom, readCoreRulesFiles } from "./core-rules-files.ts";

export interface CoreRulesLocations {
  /** As configured: a directory, `none`, or empty for the known ones. */
  readonly configured: string;
  /** Directory of `selvedge waf crs install`. */
  readonly installed: string;
  /** File of the last successful compilation. */
  readonly lastGood: string;
  /** Whether control runs elsewhere: then its compilation, copied to this machine, is used before a directory of this machine. */
  readonly followsControl: boolean;
}

/** The Core Rule Set to use; plain data, which crosses between threads. */
export interface FoundCoreRules {
  /** Null if none was found. */
  readonly directory: string | null;
  /** Compiled; null if none has ever compiled. */
  readonly memory: SharedArrayBuffer | null;
  /** Why the directory's current content is not in use. */
  readonly problem: string | null;
  /** Why no copy of it is on disk. */
  readonly notKept: string | null;
}

/** Debian's package modsecurity-crs. */
const DEBIAN = "/usr/share/modsecurity-crs";
export const INSTALL_HINT = "selvedge waf crs install FILE.tar.gz";

/**
 * Finds the Core Rule Set and compiles it unless that was done before, which takes a second. If it does not compile, the
 * last successful one stays in use. Never throws.
 */
export function findCoreRules({ configured, installed, lastGood, followsControl }: CoreRulesLocations): FoundCoreRules {
  const copied = followsControl && configured === "" ? readKept(lastGood) : null;
  if (copied !== null) return { directory: lastGood, memory: copied.memory, problem: null, notKept: null };
  const directory = configured === "" ? [installed, DEBIAN].find((path) => existsSync(path)) : configured;
  if (directory === undefined || directory === "none") return { directory: null, memory: null, problem: null, notKept: null };
  const kept = readKept(lastGood);
  try {
    const files = readCoreRulesFiles(directory);
    if (kept?.head.digest === files.digest) return { directory, memory: kept.memory, problem: null, notKept: null };
    const program = programFrom(files);
    const memory = coreRulesBytes({ digest: files.digest, version: program.components[0] ?? "" }, program);
    return { directory, memory, problem: null, notKept: keep(lastGood, memory) };
  } catch (error) {
    return { directory, memory: kept?.memory ?? null, problem: reasonOf(error), notKept: null };
  }
}

/** Logs the result. */
export function logCoreRules({ directory, memory, problem, notKept }: FoundCoreRules, log: Pick<Log, "info" | "warn">): void {
  const head = memory === null ? null : coreRulesHead(memory);
  if (directory === null)
    log.info(`the OWASP Core Rule Set is not installed: the OWASP ruleset contains Selvedge's own rules; to install it: ${INSTALL_HINT}`);
  else if (problem !== null) {
    const use =
      head === null ? "the OWASP ruleset contains Selvedge's own rules" : `the previous version (${head.digest.slice(0, 12)}) stays in use`;
    log.warn({ directory, problem }, `cannot use the OWASP Core Rule Set: ${problem}; ${use}`);
  } else log.info({ directory, ...head }, "the OWASP Core Rule Set is in use");
  if (notKept !== null)
    log.warn({ problem: notKept }, "cannot keep a copy of the OWASP Core Rule Set; it is compiled again at the next start");
}

function readKept(path: string): { readonly head: CoreRulesHead; readonly memory: SharedArrayBuffer } | null {
  try {
    const bytes = readFileSync(path);
    const memory = new SharedArrayBuffer(bytes.length);
    new Uint8Array(memory).set(bytes);
    const head = coreRulesHead(memory);
    return head === null ? null : { head, memory };
  } catch {
    return null;
  }
}

/** The copy can be made again from its files, so no other part depends on it. Null on success. */
function keep(path: string, memory: SharedArrayBuffer): string | null {
  try {
    writeFileSync(`${path}.new`, new Uint8Array(memory), { mode: 0o600 });
    renameSync(`${path}.new`, path);
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
