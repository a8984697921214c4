import { type ActionRef, readActions } from "./actions.ts";
import { directiveLines } from "./lines.ts";
import { type OperatorRef, readOperator } from "./operator.ts";
import { SETTINGS } from "./settings.ts";
import { refuse, type Text } from "./source-error.ts";
import { readVariables, type VariableRef } from "./variables.ts";
import { readWords } from "./words.ts";

export interface SourceFile {
  /** As errors name it. */
  readonly name: string;
  readonly content: string;
}

/** Keys by which several directives find rules. */
export type RuleKey = "id" | "tag" | "msg";

export type Directive =
  /** `SecRule`, or `SecAction`, which has no variables. */
  | {
      readonly kind: "rule";
      readonly variables: readonly VariableRef[];
      readonly operator: OperatorRef | null;
      readonly actions: readonly ActionRef[];
      readonly source: Text;
    }
  | { readonly kind: "marker"; readonly name: string }
  | { readonly kind: "default-action"; readonly actions: readonly ActionRef[]; readonly source: Text }
  | { readonly kind: "remove"; readonly by: RuleKey; readonly rules: readonly Text[] }
  | { readonly kind: "update-targets"; readonly by: RuleKey; readonly rules: Text; readonly variables: readonly VariableRef[] }
  | { readonly kind: "update-actions"; readonly rule: Text; readonly actions: readonly ActionRef[] }
  | { readonly kind: "engine"; readonly mode: Text }
  | { readonly kind: "component"; readonly text: string }
  | { readonly kind: "include"; readonly pattern: Text }
  /** A directive of ModSecurity without effect here: the edge has its own setting, or none. */
  | { readonly kind: "setting"; readonly name: string; readonly source: Text };

const DIRECTIVES_MAX = 100_000;

/** The directives of a file, in order. Throws SecLangError. */
export function readDirectives({ name, content }: SourceFile): readonly Directive[] {
  const directives: Directive[] = [];
  for (const line of directiveLines(name, content)) {
    const [word, ...rest] = readWords(line);
    if (word === undefined) continue;
    const reader = READERS.get(word.text.toLowerCase());
    if (reader === undefined) refuse(word, unknown(word.text));
    directives.push(reader(rest, line));
    if (directives.length > DIRECTIVES_MAX) refuse(line, `more than ${DIRECTIVES_MAX} directives in one file`);
  }
  return directives;
}

function unknown(word: string): string {
  if (word.startsWith("<")) return "sections of the web server, such as <IfModule>, are not understood; leave them out";
  if (word.toLowerCase() === "secrulescript")
    return "SecRuleScript runs a Lua script, which Selvedge does not do; remove the rule or its plugin";
  return `unknown directive ${word.slice(0, 60)}`;
}

type Reader = (words: readonly Text[], line: Text) => Directive;

/** The required word at a position. */
function word(words: readonly Text[], at: number, line: Text, what: string): Text {
  return words[at] ?? refuse(line, `expected ${what}`);
}

function few(words: readonly Text[], most: number): void {
  const more = words[most];
  if (more !== undefined) refuse(more, "unexpected text; is a quote missing before it?");
}

const readRule: Reader = (words, line) => {
  few(words, 3);
  return {
    kind: "rule",
    variables: readVariables(word(words, 0, line, "variables, such as ARGS")),
    operator: readOperator(word(words, 1, line, 'an operator, such as "@rx pattern"')),
    actions: words[2] === undefined ? [] : readActions(words[2]),
    source: line,
  };
};

const readAction: Reader = (words, line) => {
  few(words, 1);
  return { kind: "rule", variables: [], operator: null, actions: readActions(word(words, 0, line, "actions")), source: line };
};

const removeBy =
  (by: RuleKey): Reader =>
  (words, line) => {
    word(words, 0, line, `the ${by} of rules`);
    return { kind: "remove", by, rules: words };
  };

const updateTargetsBy =
  (by: RuleKey): Reader =>
  (words, line) => {
    few(words, 2);
    return {
      kind: "update-targets",
      by,
      rules: word(words, 0, line, `the ${by} of rules`),
      variables: readVariables(word(words, 1, line, "variables, such as !ARGS:name")),
    };
  };

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["secrule", readRule],
  ["secaction", readAction],
  ["secmarker", (words, line) => ({ kind: "marker", name: word(words, 0, line, "the name of the marker").text })],
  ["secdefaultaction", (words, line) => ({ kind: "default-action", actions: readActions(word(words, 0, line, "actions")), source: line })],
  ["secruleremovebyid", removeBy("id")],
  ["secruleremovebytag", removeBy("tag")],
  ["secruleremovebymsg", removeBy("msg")],
  ["secruleupdatetargetbyid", updateTargetsBy("id")],
  ["secruleupdatetargetbytag", updateTargetsBy("tag")],
  ["secruleupdatetargetbymsg", updateTargetsBy("msg")],
  [
    "secruleupdateactionbyid",
    (words, line) => ({
      kind: "update-actions",
      rule: word(words, 0, line, "the id of a rule"),
      actions: readActions(word(words, 1, line, "actions")),
    }),
  ],
  ["secruleengine", (words, line) => ({ kind: "engine", mode: word(words, 0, line, "On, Off or DetectionOnly") })],
  ["seccomponentsignature", (words, line) => ({ kind: "component", text: word(words, 0, line, "a text").text })],
  ["include", (words, line) => ({ kind: "include", pattern: word(words, 0, line, "a file") })],
  ["includeoptional", (words, line) => ({ kind: "include", pattern: word(words, 0, line, "a file") })],
  ...SETTINGS.map((name): [string, Reader] => [name.toLowerCase(), (_, line) => ({ kind: "setting", name, source: line })]),
]);
