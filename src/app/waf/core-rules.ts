import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createCoreRuleSet } from "#rules/managed/core/core-rule-set.ts";
import { useCoreRuleSet } from "#rules/managed/rulesets.ts";
import type { CoreRules } from "#rules/managed/shared-core-rules.ts";
import type { Log } from "#app/log/log.ts";
import { programFrom, readCoreRulesFiles } from "./core-rules-files.ts";

const FORMAT = 1;

export interface CoreRulesDeps {
  /** As configured: a directory, `none`, or empty for those that are known. */
  readonly configured: string;
  /** Where `selvedge waf crs install` puts one. */
  readonly installed: string;
  /** What compiled last. */
  readonly lastGood: string;
  readonly log: Pick<Log, "info" | "warn">;
}

/** Debian's package modsecurity-crs. */
const DEBIAN = "/usr/share/modsecurity-crs";
export const INSTALL_HINT = "selvedge waf crs install FILE.tar.gz";

/**
 * Finds the Core Rule Set, compiles it unless that was done before, and puts it in use in this thread; the others get what it gives
 * (rules/managed/shared-core-rules.ts). Where it does not compile, the last one that did stays in use. Null: there is none.
 */
export function openCoreRules({ configured, installed, lastGood, log }: CoreRulesDeps): SharedArrayBuffer | null {
  const directory = configured === "" ? [installed, DEBIAN].find((path) => existsSync(path)) : configured;
  if (directory === undefined || directory === "none") {
    log.info(`there is no OWASP Core Rule Set: the OWASP ruleset has rules of Selvedge's own; to get the real one: ${INSTALL_HINT}`);
    useCoreRuleSet(null);
    return null;
  }
  const rules = readRules(directory, lastGood, log);
  if (rules === null) {
    useCoreRuleSet(null);
    return null;
  }
  useCoreRuleSet(createCoreRuleSet(rules.program, rules.digest));
  log.info(
    { directory: rules.directory, version: rules.program.components[0] ?? "", digest: rules.digest },
    "the OWASP Core Rule Set is in use",
  );
  return shared(JSON.stringify(rules));
}

function readRules(directory: string, lastGood: string, log: CoreRulesDeps["log"]): CoreRules | null {
  const kept = readKept(lastGood);
  try {
    const files = readCoreRulesFiles(directory);
    if (kept?.digest === files.digest) return kept;
    const rules: CoreRules = { format: FORMAT, digest: files.digest, directory, program: programFrom(files) };
    keep(lastGood, rules, log);
    return rules;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const use =
      kept === null
        ? "the OWASP ruleset has rules of Selvedge's own"
        : `the version that was read last (${kept.digest.slice(0, 12)}) stays in use`;
    log.warn({ directory, problem: message }, `cannot use the OWASP Core Rule Set: ${message}; ${use}`);
    return kept;
  }
}

function readKept(path: string): CoreRules | null {
  try {
    const kept = JSON.parse(readFileSync(path, "utf8")) as CoreRules;
    return kept.format === FORMAT ? kept : null;
  } catch {
    return null;
  }
}

/** It can be made again from its files: nothing depends on its being on disk. */
function keep(path: string, rules: CoreRules, log: CoreRulesDeps["log"]): void {
  try {
    writeFileSync(`${path}.new`, JSON.stringify(rules), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (error) {
    log.warn({ path, err: error }, "cannot keep a copy of the OWASP Core Rule Set; it is compiled again at the next start");
  }
}

function shared(text: string): SharedArrayBuffer {
  const bytes = Buffer.from(text, "utf8");
  const memory = new SharedArrayBuffer(bytes.length);
  new Uint8Array(memory).set(bytes);
  return memory;
}
