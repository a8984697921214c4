import { readFileSync } from "node:fs";

/** Memory that the process holds, of all its threads (proc(5), VmRSS). */
export function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
  return Number(kilobytes) * 1024;
}
