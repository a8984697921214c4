import { readdirSync, readFileSync } from "node:fs";

/** Linux reports CPU time in ticks of 1/100 s to every program (proc(5), USER_HZ). */
const TICKS_PER_SECOND = 100;

/** CPU seconds that the process, its threads and its children have used so far. */
export function cpuSeconds(pid: number): number {
  let ticks = 0;
  for (const member of processTree(pid)) ticks += readStat(member)?.ticks ?? 0;
  return ticks / TICKS_PER_SECOND;
}

/** CPU time of one process while the work ran. */
export async function cpuSecondsOf<T>(pid: number, work: () => Promise<T>): Promise<{ readonly result: T; readonly seconds: number }> {
  const before = cpuSeconds(pid);
  const result = await work();
  return { result, seconds: cpuSeconds(pid) - before };
}

/** CPU seconds of the threads of one process whose names start with the prefix. Linux keeps 15 characters of a name. */
export function threadCpuSeconds(pid: number, prefix: string): number {
  let ticks = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readStat(`${pid}/task/${thread}`);
    if (stat?.name.startsWith(prefix) === true) ticks += stat.ticks;
  }
  return ticks / TICKS_PER_SECOND;
}

/** The process and its current descendants. */
export function processTree(root: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (/^\d+$/.test(name)) parents.set(Number(name), readStat(Number(name))?.parent ?? 0);
  }
  const tree = [root];
  // Grows while it is walked: children of children are found too.
  for (const member of tree) for (const [pid, parent] of parents) if (parent === member) tree.push(pid);
  return tree;
}

interface Stat {
  readonly name: string;
  readonly parent: number;
  readonly ticks: number;
}

/** Null if the process or thread has ended. */
function readStat(pid: number | string): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the program's name in parentheses, which may contain spaces.
    const nameEnd = text.lastIndexOf(")");
    const fields = text.slice(nameEnd + 2).split(" ");
    return { name: text.slice(text.indexOf("(") + 1, nameEnd), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return null;
  }
}
