/**
 * Searches for bodies that are expensive for a Core Rule Set: `node tools/crs-pump.ts CRS_DIRECTORY [SECONDS [SEED]]`.
 * Forms of 8 and 128 KB are filled with texts from the patterns; a slow one is measured again, because other processes
 * share the machine.
 */
import { createEngine } from "#rules/seclang/run/engine.ts";
import { rulesOf } from "#rules/seclang/program/program.ts";
import { loadForTests } from "./crs/load-directory.ts";
import { piecesOf, pumped, type SlowBody, timeBody } from "./crs/pump-bodies.ts";

const [directory, seconds = "60", seed = "1"] = process.argv.slice(2);
if (directory === undefined) {
  console.error("usage: node tools/crs-pump.ts CRS_DIRECTORY [SECONDS [SEED]]");
  process.exit(2);
}

/** Allowed CPU time for a body of this many bytes. */
const ALLOWED = [
  { bytes: 8192, cpuMs: 50 },
  { bytes: 131_072, cpuMs: 200 },
] as const;
const TIMES = 4;

const engine = createEngine(loadForTests(directory));
const patterns = rulesOf(engine.program).flatMap(({ links }) =>
  links.flatMap(({ operator }) => (operator?.name === "rx" && typeof operator.argument === "string" ? [operator.argument] : [])),
);
const pieces = piecesOf(patterns);
// The first bodies pay for compiling.
for (let i = 0; i < 20; i++) timeBody(engine, pumped(pieces, 8192, "warm", i).body, "");
const slow: SlowBody[] = [];
const worst = new Map<number, SlowBody>();
let tried = 0;
for (const until = performance.now() + Number(seconds) * 1000; performance.now() < until; tried++)
  for (const { bytes, cpuMs } of ALLOWED) {
    const { piece, body } = pumped(pieces, bytes, seed, tried);
    let found = timeBody(engine, body, piece);
    for (let i = 1; i < TIMES && found.cpuMs > cpuMs; i++) {
      const again = timeBody(engine, body, piece);
      if (again.cpuMs < found.cpuMs) found = again;
    }
    if (found.cpuMs > (worst.get(bytes)?.cpuMs ?? 0)) worst.set(bytes, found);
    if (found.cpuMs > cpuMs) slow.push(found);
  }
for (const { bytes, cpuMs, piece, isSpent } of slow)
  console.log(`${bytes} bytes of ${JSON.stringify(piece)}: ${cpuMs.toFixed(0)} ms${isSpent ? ", and then its steps were spent" : ""}`);
for (const { bytes } of ALLOWED) {
  const most = worst.get(bytes);
  console.log(`worst of ${tried} bodies of ${bytes} bytes: ${most?.cpuMs.toFixed(1) ?? "-"} ms with ${JSON.stringify(most?.piece ?? "")}`);
}
console.log(`${patterns.length} patterns, ${pieces.length} pieces, ${slow.length} bodies took longer than allowed`);
process.exitCode = slow.length > 0 ? 1 : 0;
