import { CliError } from "../outcome.ts";
import type { PhaseDiff } from "./rules-diff.ts";
import type { FileRule, RulesFile } from "./rules-file.ts";

/**
 * Writes all phases or none: after a failure it puts back the rules `before`, also of the phase that failed, because an
 * answer that was lost may have been a success. Throws CliError that says what the zone's rules are now.
 */
export async function writePhases(
  diff: readonly PhaseDiff[],
  before: RulesFile["phases"],
  write: (phase: string, rules: readonly FileRule[]) => Promise<void>,
): Promise<void> {
  const begun: string[] = [];
  try {
    for (const { phase, rules } of diff) {
      begun.unshift(phase);
      await write(phase, rules);
    }
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const left: string[] = [];
    let reason = "";
    for (const phase of begun)
      await write(phase, before[phase] ?? []).catch((second: unknown) => {
        left.push(phase);
        reason = (second as Error).message;
      });
    const outcome =
      left.length === 0
        ? "the rules are those from before: what was already written was put back"
        : `${left.join(", ")} may have the rules of the file, because they could not be put back (${reason}): apply the file again, or one with the rules from before`;
    throw new CliError(`${error.message}\n${outcome}`, error.exitCode, error.mayPass);
  }
}
