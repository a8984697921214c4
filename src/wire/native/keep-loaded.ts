import { readFileSync } from "node:fs";

// dlfcn.h of Linux: the library is there already, and stays.
const RTLD_NOW = 0x2;
const RTLD_NOLOAD = 0x4;
const RTLD_NODELETE = 0x1000;

/**
 * Keeps koffi's own library in memory until the process ends. Node.js unloads it with the last thread that uses it, and only
 * then calls what its handles of the event loop want called when they are closed: code that is no more, which ends the process.
 */
export function keepLoaded(koffi: typeof import("koffi").default): void {
  const maps = readFileSync("/proc/self/maps", "latin1").split("\n");
  const line = maps.find((line) => line.includes("koffi") && line.endsWith(".node"));
  const path = line?.slice(line.indexOf("/"));
  if (path === undefined) throw new Error("koffi's library is not where Linux keeps libraries");
  const open = koffi.load(null).func("void *dlopen(const char *path, int mode)");
  if (open(path, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) === null) throw new Error(`${path} is not loaded`);
}
