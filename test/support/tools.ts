import { findTool, inCi, SYSTEM_TOOLS } from "../../tools/system-tools.ts";

/**
 * Undefined where the program is installed, else the reason to skip the test with: `t.skip(reason)`.
 * In CI a missing program is a failure: then it throws.
 */
export function toolOrSkip(name: string): string | undefined {
  if (findTool(name) !== undefined) return undefined;
  const row = SYSTEM_TOOLS.find((tool) => tool.name === name);
  if (!row) throw new Error(`${name} has no row in tools/system-tools.ts`);
  const reason = `${name} is not installed (apt-get install ${row.debianPackage})`;
  if (inCi()) throw new Error(reason);
  return reason;
}
