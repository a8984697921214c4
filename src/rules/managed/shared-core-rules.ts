import type { Program } from "#rules/seclang/program/program.ts";
import { useCoreRuleSet } from "./rulesets.ts";
import { createCoreRuleSet } from "#rules/managed/core/core-rule-set.ts";

/** A Core Rule Set in the form in which it is kept on disk and crosses to threads, as JSON. */
export interface CoreRules {
  /** Programs of other versions are read again from their files. */
  readonly format: number;
  readonly digest: string;
  readonly directory: string;
  readonly program: Program;
}

/** Puts what another thread has opened in use in this one, before it compiles rulesets. */
export function useSharedCoreRules(memory: SharedArrayBuffer | null): void {
  if (memory === null) return;
  const { program, digest } = JSON.parse(Buffer.from(new Uint8Array(memory)).toString("utf8")) as CoreRules;
  useCoreRuleSet(createCoreRuleSet(program, digest));
}
