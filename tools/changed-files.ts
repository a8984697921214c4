import { spawnSync } from "node:child_process";
import { ROOT } from "./steps.ts";

export interface Changes {
  /** The commit that the files are compared with, short. */
  readonly since: string;
  /** Paths from the root: committed, not committed and new ones. */
  readonly files: readonly string[];
}

/** Branches that finished work goes to, in order of preference. */
const TRUNKS = ["origin/main", "main"];

/**
 * Compares with `commit`; by default with the commit where this branch left main, or with the last commit if nothing
 * has changed. Null if git cannot tell: outside a clone, or with an unknown commit.
 */
export function changesSince(commit?: string): Changes | null {
  if (commit !== undefined) return changesAfter(commit);
  const branchPoint = TRUNKS.flatMap((trunk) => git("merge-base", "HEAD", trunk) ?? [])[0];
  const ofBranch = branchPoint === undefined ? null : changesAfter(branchPoint);
  return ofBranch?.files.length === 0 ? changesAfter("HEAD~1") : ofBranch;
}

function changesAfter(commit: string): Changes | null {
  const [since] = git("rev-parse", "--short", "--verify", "--quiet", `${commit}^{commit}`) ?? [];
  const changed = since && git("diff", "--name-only", "--no-renames", since);
  const added = git("ls-files", "--others", "--exclude-standard");
  return since && changed && added ? { since, files: [...new Set([...changed, ...added])] } : null;
}

/** The lines that git prints; undefined if it fails. */
function git(...args: readonly string[]): readonly string[] | undefined {
  const { status, stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return status === 0 ? stdout.split("\n").filter(Boolean) : undefined;
}
