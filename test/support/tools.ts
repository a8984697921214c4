import { findTool, inCi, SYSTEM_TOOLS } from "../../tools/system-tools.ts";

/**
 * For the `skip` option of a test that needs a system tool, or `t.skip`: false if the tool exists, otherwise the
 * reason. In CI it throws, because a missing tool is a failure.
 */
export function toolOrSkip(name: string): string | false {
  const row = SYSTEM_TOOLS.find((tool) => tool.name === name);
  if (!row) throw new Error(`${name} has no row in tools/system-tools.ts`);
  if (findTool(name) !== undefined) return false;
  const reason = `${name} is not installed (apt-get install ${row.debianPackage})`;
  if (inCi()) throw new Error(reason);
  return reason;
}
