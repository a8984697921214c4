import { findTool } from "../../tools/system-tools.ts";

/**
 * For the `skip` option of a test that needs a system tool: false where the tool is there. Elsewhere the
 * reason for the skip, except in CI, where a missing tool is a failure.
 */
export function toolOrSkip(name: string): string | false {
  if (findTool(name) !== undefined) return false;
  if (process.env["CI"]) throw new Error(`${name} is not installed, and CI skips nothing`);
  return `${name} is not installed`;
}
