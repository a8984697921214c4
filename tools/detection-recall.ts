import { percent, recallOf } from "#rules/detectors/testing/recall.ts";

/**
 * Prints the recall of detection on labelled cases, for each kind: `node tools/detection-recall.ts FILE [KIND]`, with
 * the misses of the kind.
 */
const [file, asked] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: node tools/detection-recall.ts FILE [KIND]\nFILE has a case in JSON on each line: text, label and kind");
  process.exit(2);
}

const { kinds, negatives, wrong } = recallOf(file);
const shown = kinds.filter(({ kind }) => asked === undefined || kind === asked);
for (const row of shown) console.log(`${row.kind.padEnd(24)} ${percent(row).padStart(8)} of ${row.cases}`);
const all = { found: 0, cases: 0 };
for (const row of kinds) {
  all.found += row.found;
  all.cases += row.cases;
}
console.log(
  `${"all".padEnd(24)} ${percent(all).padStart(8)} of ${all.cases}; detectors that are on find something in ${wrong.length} of ${negatives} texts without any`,
);
if (asked !== undefined) for (const row of shown) for (const text of row.missed) console.log(`missed: ${JSON.stringify(text)}`);
