import type { Block } from "./pages.ts";

/** Converts a block of a language to commands of the page's shell. Null: text, which cannot run. */
type Snippet = ((block: Block) => string) | null;

/** Every language that a block of a guide may have. */
export const SNIPPETS: Readonly<Record<string, Snippet>> = {
  sh: ({ text }) =>
    text.replaceAll(
      /^(?<command>.*\S) +# prints (?<output>.+)$/gm,
      (_, command: string, output: string) => `${command} | prints ${pattern(output)}`,
    ),
  js: (block) => program(block, "node --input-type=module -"),
  python: (block) => program(block, "python3 -"),
  toml: (block) =>
    // A file of managed rules, which src/app/waf/operator-rows-file.test.ts reads.
    block.file === "rows.toml"
      ? saved(block, block.file)
      : `${saved(block, "selvedge.toml")}\nnpx selvedge config check --config ${block.file ?? "selvedge.toml"} > config.txt || { cat config.txt; false; }`,
  json: ({ text }) => {
    const { action, expression, ratelimit } = JSON.parse(text) as {
      readonly action?: string;
      readonly expression?: string;
      readonly ratelimit?: object;
    };
    const phase = ratelimit === undefined ? PHASES[action ?? ""] : "http_ratelimit";
    // A rule is a change of the zone that the API checks in full and does not make.
    return action === undefined || expression === undefined
      ? `jq . ${here(text)}`
      : `jq '{ rules: [.] }' <<< ${quoted(text)} | call -X PUT "$API/zones/$ZONE/rulesets/phases/${phase}/entrypoint?dry_run=true" -d @-`;
  },
  expression: ({ text }) =>
    text
      .split("\n")
      .map(
        (line) =>
          `jq -n --arg text ${quoted(line)} '{ expression: $text, phase: "http_request_firewall_custom" }' | call "$API/zones/$ZONE/rulesets/expressions" -d @- | jq -e '.result.problem == null'`,
      )
      .join("\n"),
  graphql: ({ text }) =>
    `jq -n --arg zone "$ZONE" --arg since "$(date -u -d '1 hour ago' +%Y-%m-%dT%H:%M:%SZ)" --arg query ${quoted(text)} '{ $query, variables: { $zone, $since } }' | call "$API/graphql" -d @- | jq -e '.errors == null'`,
  yaml: (block) => `${saved(block, "knot.conf")}\nknot_secondary knot.conf`,
  conf: (block) => `${saved(block, "nsd.conf")}\nnsd-checkconf nsd.conf`,
  "named.conf": (block) =>
    `${saved(block, "named.conf")}\nnamed-checkconf named.conf\n${block.text.includes("type primary") ? "bind_primary named.conf" : ""}`,
  ini: (block) => `${saved(block, "selvedge.service")}\nunit ${block.file ?? "selvedge.service"}`,
  text: null,
  mermaid: null,
};

/** The phase of a rule with this action in guides, unless it is a rate limit. */
const PHASES: Readonly<Record<string, string>> = {
  block: "http_request_firewall_custom",
  compress_response: "http_response_compression",
  execute: "http_request_firewall_managed",
  log_custom_field: "http_log_custom_fields",
  managed_challenge: "http_request_firewall_custom",
  route: "http_request_origin",
  skip: "http_request_firewall_managed",
};

/** A program that is saved runs when a later command starts it. */
const program = (block: Block, command: string): string =>
  block.file === undefined ? `${command} ${here(block.text)}` : saved(block, block.file);

const saved = (block: Block, file: string): string => `cat > ${block.file ?? file} ${here(block.text)}`;

const here = (text: string): string => `<<'END OF BLOCK'\n${text}\nEND OF BLOCK`;

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** In the expected output of a command, … matches anything. */
const pattern = (output: string): string => quoted(output.replaceAll(/[\\*?[\]]/g, String.raw`\$&`).replaceAll("…", "*"));
