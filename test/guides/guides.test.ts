import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { resolveConfig } from "#app/config/config.ts";
import { toolOrSkip } from "../support/tools.ts";
import { type Block, type GuidePage, guidePages, VARIABLES_PAGE } from "./pages.ts";
import { runSteps, type Step } from "./shell.ts";
import { openSite, type OpenSite, type Site } from "./site.ts";
import { SNIPPETS } from "./snippets.ts";
import { substituted } from "./substitutions.ts";

// The commands of the README and of the guides run unchanged: a page is one terminal, in a separate directory.

/** Blocks that nothing runs: those with a reason above them, text, and pictures. This number may only fall. */
const NOT_RUN_MAX = 12;
/** Groups of pages run in parallel, each against a separate server. */
const GROUPS = [0, 1];

const pages = guidePages();
const variables = pages.find(({ path }) => path === VARIABLES_PAGE) ?? assert.fail();

test("each guide states its prerequisites at the top", () => {
  const guides = pages.filter(({ path }) => path.startsWith("docs/guides/") && path !== VARIABLES_PAGE);
  assert.ok(guides.length > 25);
  assert.deepEqual(
    guides.filter(({ needs }) => needs === undefined).map(({ path }) => path),
    [],
  );
});

test("each block has a language that can run, or a reason why it does not", () => {
  const blocks = pages.flatMap(({ path, blocks }) => blocks.map((block) => ({ path, ...block })));
  assert.deepEqual(
    blocks.filter(({ language }) => !(language in SNIPPETS)).map(({ path, line, language }) => `${path}:${line}: ${language}`),
    [],
  );
  const notRun = blocks.filter((block) => snippet(block) === null);
  assert.equal(notRun.length, NOT_RUN_MAX, "if it has fallen, lower NOT_RUN_MAX; it must not rise");
});

test("each curl command fails on an error status, or its output is compared", () => {
  const lines = pages.flatMap(({ blocks }) => blocks.filter(({ language }) => language === "sh").flatMap(({ text }) => text.split("\n")));
  const silent = lines.filter((line) => /^(?!until ).*\bcurl (?!.*(-w|--fail-with-body|-sSf|# prints ))/.test(line));
  assert.deepEqual(silent, []);
});

test("guides use only the shared variables, and state those that they need", () => {
  for (const page of pages.filter(({ needs }) => needs !== undefined)) {
    const commands = page.blocks.map((block) => snippet(block) ?? block.text).join("\n");
    assert.doesNotMatch(commands, /127\.0\.0\.1:8780|curl .*\$API/, page.path);
    const unused = neededBy(page).filter(
      (name) => !commands.includes(`$${name}`) && !page.blocks.some(({ notRun }) => notRun !== undefined),
    );
    assert.deepEqual(unused, [], page.path);
  }
});

test("flags in the text exist", () => {
  const commands = pages.flatMap(({ prose }) =>
    [...prose.matchAll(/`npm start -- (?<flags>[^`]+)`/g)].map(({ groups }) => groups?.["flags"] ?? ""),
  );
  assert.ok(commands.length > 3);
  for (const flags of commands) resolveConfig({ argv: flags.split(" "), env: {}, readFile: () => "" });
});

describe("the commands of each page work in order", { concurrency: GROUPS.length }, () => {
  for (const group of GROUPS) {
    describe(`group ${group}`, { concurrency: 1 }, () => {
      let site: OpenSite;
      before(async () => {
        site = await openSite();
      });
      after(() => site?.close());

      for (const page of pages.filter((_, i) => i % GROUPS.length === group)) {
        test(page.path, async (t) => {
          const missing = toolsOf(page).map(toolOrSkip).find(Boolean);
          if (missing) return t.skip(missing);
          const bringsProvider = page.blocks.some(({ text }) => text.includes("LLMock"));
          await site.visit({ bringsProvider }, (directory) =>
            runSteps([...settings(page, site), ...stepsOf(page, site)], directory, {
              PORT: String(site.receiverPort),
              PEER_PORT: String(site.peerPort),
            }),
          );
        });
      }
    });
  }
});

/** The blocks of the page of variables that set what the page says that it needs. */
function settings(page: GuidePage, site: Site): readonly Step[] {
  if (page.path === VARIABLES_PAGE || page.needs === undefined) return [];
  const needed = neededBy(page);
  const blocks = variables.blocks.filter(({ text }) => needed.some((name) => text.includes(`export ${name}=`)));
  return stepsOf({ ...variables, path: `${page.path}: what it needs`, blocks }, site);
}

/** The variables in what the page says that the reader needs, without their dollar. */
const neededBy = ({ needs = "" }: GuidePage): readonly string[] =>
  [...needs.matchAll(/`\$(?<name>[A-Z]+)`/g)].map(({ groups }) => groups?.["name"] ?? "");

const stepsOf = ({ path, blocks }: GuidePage, site: Site): readonly Step[] =>
  blocks.flatMap((block) => {
    const commands = snippet(block);
    return commands === null ? [] : [{ name: `${path}:${block.line}`, commands: substituted(commands, site) }];
  });

const snippet = (block: Block): string | null => (block.notRun === undefined ? (SNIPPETS[block.language]?.(block) ?? null) : null);

const TOOLS_OF_LANGUAGES: Readonly<Record<string, string>> = {
  python: "python3",
  yaml: "knotd",
  conf: "nsd-checkconf",
  "named.conf": "named",
  ini: "systemd-analyze",
};

function toolsOf({ blocks }: GuidePage): readonly string[] {
  const run = blocks.filter((block) => snippet(block) !== null);
  const shell = run
    .filter(({ language }) => language === "sh")
    .map(({ text }) => text)
    .join("\n");
  const called = ["dig", "openssl", "sqlite3"].filter((tool) => shell.includes(`${tool} `));
  return ["curl", "jq", ...called, ...run.flatMap(({ language }) => TOOLS_OF_LANGUAGES[language] ?? [])];
}
