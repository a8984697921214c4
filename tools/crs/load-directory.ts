import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Program } from "#rules/seclang/program/program.ts";
import { readProgram } from "#rules/seclang/program/read-program.ts";

/** The program of a Core Rule Set as its project publishes it, with the settings that its test suite wants. */
export function loadForTests(directory: string): Program {
  const read = (path: string): { readonly name: string; readonly content: string } => ({
    name: path,
    content: readFileSync(path, "latin1"),
  });
  const setups = ["crs-setup.conf", "crs-setup.conf.example"].map((name) => join(directory, name)).filter((path) => existsSync(path));
  const rules = join(directory, "rules");
  const files = readdirSync(rules)
    .filter((name) => name.endsWith(".conf") || /^(?:REQUEST-900|RESPONSE-999).*\.conf\.example$/.test(name))
    .sort()
    .map((name) => read(join(rules, name)));
  return readProgram({
    files: [...setups.slice(0, 1).map(read), { name: "test-settings", content: TEST_SETTINGS }, ...files],
    dataFile: (name, beside) => (existsSync(join(dirname(beside), name)) ? readFileSync(join(dirname(beside), name), "latin1") : null),
  });
}

// As the suite's own README wants them.
const TEST_SETTINGS = `SecAction "id:900005,phase:1,nolog,pass,\\
  ctl:ruleEngine=DetectionOnly,\\
  ctl:ruleRemoveById=910000,\\
  setvar:tx.paranoia_level=4,\\
  setvar:tx.blocking_paranoia_level=4,\\
  setvar:tx.crs_validate_utf8_encoding=1,\\
  setvar:tx.arg_name_length=100,\\
  setvar:tx.arg_length=400,\\
  setvar:tx.total_arg_length=64000,\\
  setvar:tx.max_num_args=255,\\
  setvar:tx.max_file_size=64100,\\
  setvar:tx.combined_file_sizes=65535"
`;
