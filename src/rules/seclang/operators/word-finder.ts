import { createScannerBuilder, type Scan } from "../prefilter/scanner.ts";

/** Finds the first of many words in a text, ignoring case. Built at its first use. */
export function createWordFinder(words: readonly string[]): (text: string) => string | undefined {
  let scan: ((text: string) => Scan) | undefined;
  return (text) => {
    if (scan === undefined) {
      const builder = createScannerBuilder();
      for (const word of words) builder.add([word]);
      scan = builder.build();
    }
    const [first] = scan(text).hits;
    return first === undefined ? undefined : words[first];
  };
}
