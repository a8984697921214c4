import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { ATTACKS } from "#rules/managed/testing/attacks.cases.ts";
import { BENIGN_VALUES } from "#rules/managed/testing/benign.cases.ts";
import { detectSql } from "./detect-sql.ts";
import { readSql } from "./sql-tokens.ts";

const INJECTIONS = [
  "' UNION SELECT username || ':' || password FROM users--",
  "' or true--",
  "' or 1 --",
  "1'or'1",
  "1e0union select",
  "1 union distinctrow select 1",
  "' or id in (1,2)#",
  "1 or 1 between 0 and 2--",
  "2010-01-01'+sleep(20.to_i)+'",
  "foo')waitfor delay'5:0:20'--",
  '" | type %SystemDrive%\\config.ini | "',
  "/post/foo/24'union all select 1,2,3 from aa",
  "x' and members.email is null; --",
  "1;select 1",
  "'; exec master..xp_cmdshell 'ping'--",
  "1 and (select count(*) from t)>0",
  "%' and '%'='",
  "'='",
  "1/*!union*/ /*!select*/ 1",
  "(select 1 from dual)",
  "1-IF(MID(VERSION(),1,1) LIKE 5, BENCHMARK(5000000,SHA1('true')), false)",
  "'||pg_sleep(10)--",
  "admin'#",
  "' or~1#",
  "' or $$a$$=$$a$$--",
  "' or $x$'$x$=$x$'$x$--",
  "' or q'[a]'='a'--",
  "'-alert(1)-'",
  "'^alert(1)^'",
  "-1); select pg_sleep(6); --",
  "1 div 1 or 1",
  "1 RlIkE (sElEcT (cAsE WhEn 2>1 tHeN 1 ElSe 0X28 EnD))-- ",
  "(SELECT (CASE WHEN (6421=6421) THEN 1 ELSE 1*(SELECT 1 FROM INFORMATION_SCHEMA.PLUGINS)END))",
  "1-if(1=1,1,0)",
  "1*DBMS_PIPE.RECEIVE_MESSAGE(CHR(99)||CHR(99),6)",
  "1' INTO @a,@b#",
  "-1 or 2+945-945-1=0+0+0+1 --",
  "SELECT table_name FROM information_schema.tables",
  "\\Nunion select 1",
  "x') procedure analyse() -- -",
  "'; CALL dbms_java.runjava('x')--",
  "' or {d'2020-01-01'}>0#",
  "'-prompt`1`-'",
  '"/onmouseenter=alert(1) style=position:fixed;inset:0 x="',
  "1&&cat /etc/passwd;",
  "1||ipconfig /all;",
];

const HARMLESS = [
  'status in ("Open","In Progress") OR assignee = currentUser()',
  "How to run; ls -la",
  "it's ok and 5 more",
  "rock 'n' roll",
  "O'Reilly and Sons",
  "5'-6\" tall",
  "don't; select the best",
  "please select one from the list",
  "trade union select committee",
  "pages 1 or 2",
  "drop table reservation",
  "It's 5 o'clock -- somewhere",
  "if (a == 'b' || c == 'd') return;",
  "var x = 'a' + b + 'c';",
  'he said "yes" and left',
  "C'est l'or ou l'argent",
  "Thread.sleep(100)",
  "sleep (better)",
  "@@ -1,3 +1,4 @@",
  "order by date",
  'Traceback (most recent call last):\n  File "/app/main.py", line 3, in <module>\n    foo()',
  "body { background: url(\"/img/cat.png\"); top: 5px }\n@import url('https://fonts.example/css2');",
  "Could not open '/opt/app/data/db.sqlite': permission denied",
  "INSERT INTO orders (host, total) VALUES ('a', 7);",
  "CREATE TABLE users (id int primary key, host varchar(20) default '')",
  "WITH t AS (SELECT host FROM users) SELECT * FROM t WHERE host > 42",
  '=IF(A42>1,"select",B2*2)',
  'is:issue is:open label:bug author:echo "select update"',
  "10%u201320 cm; 5' 10\" %u2014 %u0418%u0432%u0430%u043d",
  "costs $5 and $10 ($ is the currency)",
  "SELECT total, avg(total) FROM users WHERE host = 'a' AND $__timeFilter(time) OR created_at = 'b' GROUP BY 1",
  "sleep (union) [19.99]",
  'is:issue is:open label:bug author:union "select table"',
];

test("injected SQL is found in every kind of quotes", () => {
  // One of the list is encoded twice: decoding is for transformations.
  for (const attack of [...ATTACKS["sqli"]!.filter((text) => !text.startsWith("%27")), ...INJECTIONS])
    assert.notEqual(detectSql(attack), null, attack);
});

test("sentences, code and names are not statements", () => {
  // Constants that are compared are the plainest injection there is.
  for (const text of [...BENIGN_VALUES, ...HARMLESS]) if (text !== "2 > 1 or 1 < 2") assert.equal(detectSql(text), null, text);
});

test("white space, comments and case between tokens change nothing", () => {
  const spaces = fc.constantFrom(" ", "\t", "\n", "/**/", "/*x*/", " \xa0");
  const injections = ["1 union select 1,2", "1' or '1'='1", "1 and sleep(5)", "x' or 1=1 -- -"];
  fc.assert(
    fc.property(fc.constantFrom(...injections), spaces, fc.boolean(), (injection, space, isUpper) => {
      const changed = injection.replaceAll(" ", space);
      // A line break ends a comment, and then what stood in it is a sign.
      if (injection.includes("--") && space === "\n") return;
      assert.notEqual(detectSql(isUpper ? changed.toUpperCase() : changed), null, changed);
    }),
  );
});

test("the number of tokens is limited, whatever the text", () => {
  assert.equal(readSql("1' or N'a' like b", "'")?.kinds, "s&son");
  assert.equal(readSql("no quote", "'"), null);
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("'", '"', "(", "/*", "*/", "--", "#", " ", "1", "or", "union", "select", ";", "\\", "@", "`"),
        maxLength: 200,
      }),
      (text) => {
        for (const quote of ["", "'", '"'] as const) assert.ok((readSql(text, quote)?.kinds.length ?? 0) <= 49);
        detectSql(text);
      },
    ),
  );
});
