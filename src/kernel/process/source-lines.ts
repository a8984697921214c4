import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { fileURLToPath } from "node:url";

/**
 * Loaded first by each file of the built program (tools/build.ts): stack traces name the files and lines of the sources.
 * A map is read when the first trace needs it. Node.js's `--enable-source-maps` reads them all at the start, in every
 * thread.
 */

/** Maps are large, and errors often occur together. */
const KEPT_MS = 10_000;
const dist = import.meta.resolve("#package.json").replace(/package\.json$/, "");
const maps = new Map<string, SourceMap | undefined>();

Error.prepareStackTrace = (error, calls) => [textOf(error), ...calls.map((call) => `    at ${inSources(call)}`)].join("\n");

function textOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return "Error";
  }
}

function inSources(call: NodeJS.CallSite): string {
  const text = String(call);
  const file = call.getFileName();
  if (!file?.startsWith(dist)) return text;
  const [line, column] = [call.getLineNumber() ?? 0, call.getColumnNumber() ?? 0];
  const origin = mapOf(file)?.findOrigin(line, column);
  if (origin === undefined || !("fileName" in origin)) return text;
  const { pathname } = new URL(origin.fileName, file);
  return text.replace(`${file}:${line}:${column}`, () => `${decodeURI(pathname)}:${origin.lineNumber}:${origin.columnNumber}`);
}

function mapOf(file: string): SourceMap | undefined {
  if (maps.size === 0) setTimeout(() => maps.clear(), KEPT_MS).unref();
  if (!maps.has(file)) maps.set(file, readMap(file));
  return maps.get(file);
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${file}.map`), "utf8")) as SourceMapPayload);
  } catch {
    // The maps were removed, or another build replaced this one: built lines are better than none.
    return undefined;
  }
}
