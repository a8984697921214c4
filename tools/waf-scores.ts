/**
 * Writes into the guide the score of one attack per class: `node tools/waf-scores.ts`. The table of the Core Rule Set
 * is that of Debian's package if it is installed; `node tools/waf-scores.ts CRS_DIRECTORY` prints the one of another
 * directory.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { coreScoreTable, DEBIAN_CORE_RULES, GUIDE, ownScoreTable, withScores } from "./docs/waf-scores.ts";

const [directory] = process.argv.slice(2);
const core = coreScoreTable(directory ?? DEBIAN_CORE_RULES);
if (directory !== undefined) console.log(core === null ? `${directory} does not exist` : `${core.version}\n\n${core.markdown}`);
else {
  const guide = withScores(readFileSync(GUIDE, "utf8"), "own", ownScoreTable());
  writeFileSync(GUIDE, core === null ? guide : withScores(guide, "core", core));
}
