import { readFileSync } from "node:fs";
import { nativeMode, TURNED_OFF } from "#kernel/process/native-transport.ts";

export type Koffi = typeof import("koffi").default;
export type Library = ReturnType<Koffi["load"]>;

/**
 * Loads koffi, which stays in memory until the process ends. The only import of koffi. Rejects with the reason if
 * `runtime.native` is off, or koffi is not installed or does not load.
 */
export async function loadKoffi(): Promise<Koffi> {
  if (nativeMode() === "off") throw new Error(TURNED_OFF);
  const { default: koffi } = await import("koffi");
  keepLoaded(koffi);
  return koffi;
}

/** dlfcn.h of Linux: open a library that is already loaded, and keep it. */
export const DLFCN = { RTLD_NOW: 0x2, RTLD_NOLOAD: 0x4, RTLD_NODELETE: 0x1000 } as const;

/**
 * Node.js unloads koffi's library with the last thread that uses it, and calls its cleanup functions for handles of the
 * event loop afterwards, when they are no longer in memory, which crashes the process.
 */
function keepLoaded(koffi: Koffi): void {
  // Names of folders may hold characters beyond ASCII.
  const maps = readFileSync("/proc/self/maps", "utf8").split("\n");
  const line = maps.find((line) => line.includes("koffi") && line.endsWith(".node"));
  const path = line?.slice(line.indexOf("/"));
  if (path === undefined) throw new Error("koffi's library is not where Linux keeps libraries");
  const open = koffi.load(null).func("void *dlopen(const char *path, int mode)");
  if (open(path, DLFCN.RTLD_NOW | DLFCN.RTLD_NOLOAD | DLFCN.RTLD_NODELETE) === null) throw new Error(`${path} is not loaded`);
}
