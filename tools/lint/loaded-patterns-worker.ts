import { parentPort } from "node:worker_threads";
import { BUILT_PATTERNS } from "./built-patterns.ts";
import { isProvenLinear } from "./proven-linear.ts";
import type { LoadedPattern } from "./loaded-patterns.ts";
import { PUMPED_BYTES } from "./pumped.ts";

const ROOT = new URL("../../", import.meta.url);

/** The patterns that the listed files build when they are loaded. */
async function loadedPatterns(): Promise<readonly LoadedPattern[]> {
  const files = BUILT_PATTERNS.filter(({ how }) => how === "loaded").map(({ file }) => file);
  const found: LoadedPattern[] = [];
  const { RegExp: native } = globalThis;
  const note = (made: RegExp): RegExp => {
    const stack = new Error().stack ?? "";
    const file = files.find((file) => stack.includes(`${ROOT.pathname}${file}:`));
    const { source, flags } = made;
    if (file !== undefined) found.push({ file, pattern: { source, flags, bytes: PUMPED_BYTES }, isProven: isProvenLinear(source, flags) });
    return made;
  };
  globalThis.RegExp = new Proxy(native, {
    construct: (target, parts, as) => note(Reflect.construct(target, parts, as) as RegExp),
    apply: (target, self, parts) => note(Reflect.apply(target, self, parts) as RegExp),
  });
  try {
    for (const file of files) await import(new URL(file, ROOT).href);
  } finally {
    globalThis.RegExp = native;
  }
  return found;
}

parentPort?.postMessage(await loadedPatterns());
