import { readFileSync } from "node:fs";

/** Resident memory of the process with all its threads (proc(5), VmRSS). */
export const residentBytes = (pid: number): number => statusBytes(pid, "VmRSS");

/** The file-backed part, mainly the program itself: the kernel can reclaim it, and other processes may share it. */
export const residentFileBytes = (pid: number): number => statusBytes(pid, "RssFile");

function statusBytes(pid: number, field: string): number {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
  return Number(kilobytes) * 1024;
}
