import assert from "node:assert/strict";
import { test } from "node:test";
import { MANAGED_RULESET_ID } from "./request-rulesets.ts";
import { managedMatches } from "./testing/managed-request.ts";

const isStopped = (text: string): boolean =>
  managedMatches(MANAGED_RULESET_ID, { query: `q=${encodeURIComponent(text)}` }).some(({ action }) => action === "block");
const pairs = (first: readonly string[], second: readonly string[]): readonly string[] => first.flatMap((a) => second.map((b) => a + b));

test("a step to a secret file is blocked, whatever is written like a setting of a source tree", () => {
  const files = [
    ".git/config",
    ".gitconfig",
    ".git-credentials",
    ".git",
    "nginx.conf",
    "app.config",
    "web.config",
    "my.conf.bak",
    "a.config.php",
  ];
  const before = ["", "x ", "cat ", "--config ", "file=", "prettier --ignore-path ../.gitignore ", "../prettier.config.js ../"];
  const behind = ["", " x", '"', "?a.js", "\0.js", ";.ts"];
  const attacks = pairs(
    before,
    pairs(files, behind).map((file) => `../${file}`),
  );
  assert.ok(attacks.length >= 200);
  assert.deepEqual(
    attacks.filter((text) => !isStopped(text)),
    [],
  );
  assert.ok(!isStopped('prettier --config ../../prettier.config.js --ignore-path ../.prettierignore --write "**/*.ts"'));
  assert.ok(!isStopped("prettier --ignore-path ../../.gitignore --write ."));
});

test("a command on a secret file and a second statement of a database are blocked in a sentence and behind a question", () => {
  const commands = pairs(
    ["cat", "tac", "head", "tail -n5", "less", "more", "nl", "od"],
    [" /etc/passwd", " /etc//shadow", " /proc/self/environ", " /root/.ssh/id_rsa"],
  );
  const behind = ["", " is here", " shows every account", " gives an error", " and more words behind it", " now please", " of the machine"];
  const questions = ["db.users.find({a:1})", 'db.a.find({"b": 2})', "db.a.count([1])", 'db.x.distinct("y")'];
  const attacks = [
    ...pairs(commands, behind),
    ...pairs(questions, [";db.users.drop()", "; db.a.remove({})", ";\ndb.users.drop()", ";sleep(5000)"]),
  ];
  assert.ok(attacks.length >= 200);
  assert.deepEqual(
    attacks.filter((text) => !isStopped(text)),
    [],
  );
  for (const text of questions) assert.ok(!isStopped(text), text);
  assert.ok(!isStopped("tail -f /var/log/app/error.log shows nothing new"));
});
