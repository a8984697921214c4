import { parentPort } from "node:worker_threads";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { type CountedTexts, countLengths, countTexts } from "./token-counts.ts";

/**
 * Counts tokens outside of the gateway's thread: the tokenizer takes 80 MB and up to half a second to load, which would
 * block all streams and hide clients that disconnect.
 */
const port = parentPort;
if (port === null) throw new Error("gateway/costs/token-count-worker.ts runs as a worker thread");

port.on("message", ({ id, texts }: { readonly id: number; readonly texts: CountedTexts }) => {
  let counts;
  try {
    counts = countTexts(texts, countTokens);
  } catch {
    counts = countLengths(texts);
  }
  port.postMessage({ id, counts });
});
port.postMessage({ id: 0 });
