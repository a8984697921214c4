import { compileRegexTest } from "#rules/regex/regex.ts";
import { withoutComments } from "./values/normalise.ts";
import { signaturesOf, type SignatureRow } from "./rows.ts";
import { isSentence } from "./sentence.ts";
import { injectsSql, isStatement, withoutNamedCalls } from "./sql-injection.ts";
import type { Signature } from "./signature.ts";

const QUOTES = ["'", '"', "`"];
const joined = (words: readonly string[]): readonly string[] =>
  QUOTES.flatMap((quote) => ["", " ", ")", ") "].flatMap((gap) => words.map((word) => `${quote}${gap}${word}`)));

const UNION_SELECT = String.raw`\bunion(?:[ +]all|[ +]distinct)?[ (+]{1,3}select[ (+]{1,2}(?:all |distinct |top \d{1,4} )?(?:['"0-9@*(\\~!+-]|null\b|[a-z0-9_.]{1,40} ?(?:[,(]|from\b|as\b))`;
const union = compileRegexTest(UNION_SELECT, 10_000_000);

/** Excludes matches of the row for UNION SELECT, so that an exception of that rule lets the request pass. */
const injectsOtherwise = (text: string): boolean =>
  injectsSql(text) && !isSentence(text) && !union.test(withoutComments(text.replace(/[\s\0\xa0]+/g, " ")));

/** A question about two statements shows the first one too. */
const unitesStatements = (text: string): boolean =>
  isStatement(text) ||
  (text.length <= 1024 &&
    // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
    /^[a-z][a-z ]{0,60} select [^'"();#\\]{1,200} union (?:all |distinct )?select [^'"();#\\-]{1,200}$/.test(text));

/** A question, which does not run one. */
const namesProcedure = (text: string): boolean =>
  text.length <= 1024 &&
  // linear: at most 1024 bytes (longer texts are not tested)
  /^\/?(?:[a-z]{2,20} ){0,8}(?:xp_cmdshell|sp_configure|sp_executesql)(?: [a-z]{2,20}){1,8}\??$/.test(text) &&
  !/\bexec/.test(text);

const SECOND_STATEMENT = String.raw`['")0-9] ?; ?(?:select |insert into |update [a-z0-9_."\[\]]{1,40} set |delete from |drop (?:table|database|schema|view|user|procedure) |create (?:table|user|database|function|or replace) |alter (?:table|user|database) |truncate (?:table )?|exec(?:ute)? |declare @|shutdown\b|grant |call [a-z_.]{1,60} ?\(|if (?:not|\(?select|is_)|iif ?\(|select ?\(|backup database |set (?:global|session|@|names|role|local|password) ?|begin (?:execute|dbms_|declare|raise)|attach database |show (?:tables|databases|schemas|variables|grants|columns|processlist)|pragma [a-z_]|prepare [a-z]|handler [a-z]{1,40} (?:open|read)|rename table |flush (?:tables|privileges|logs)|revoke |lock tables |copy [a-z_]{1,40} (?:from|to) |do \$\$|merge into |replace into |load data |vacuum\b|reset (?:role|master)|kill \d|use (?:master|mysql|information_schema)\b)`;
const secondStatements = compileRegexTest(SECOND_STATEMENT, 10_000_000);

/** Containers start with a script whose last command replaces it: `sleep 10; exec nginx -g 'daemon off;'`. */
function startsServer(text: string): boolean {
  if (text.length > 65_536) return false;
  const rest = text.replace(STARTED, "; ");
  return rest !== text && !secondStatements.test(rest);
}

const STARTED =
  /; ?exec (?:nginx|node|java|python3?|gunicorn|uvicorn|npm|bundle|php-fpm|su-exec|gosu|tini|env|supervisord|redis-server|catalina\.sh) (?=[-/.a-z"$])/g;

const DELAY = String.raw`(?:(?:^|[^.a-z0-9_])sleep ?\( ?(?:\d{1,9}(?:\.\d{1,6})? ?(?:[)*+/,;'"-]|$)|\(|@|if|__)|\bpg_sleep ?\(|\bbenchmark ?\( ?\d{3,12} ?,|waitfor ?(?:delay|time) ?['"@(]|dbms_(?:lock\.sleep|pipe\.receive_message) ?\(|\brandomblob ?\( ?\d{6}|generate_series ?\( ?1 ?, ?\d{6})`;
const delays = compileRegexTest(DELAY, 10_000_000);

/** A call that a text only names. */
function namesDelay(text: string): boolean {
  if (/^\s{0,20}[{[<]/.test(text.slice(0, 30)) || text.length > 65_536) return false;
  const rest = withoutNamedCalls(text);
  return rest !== text && !delays.test(rest);
}

const ROWS: readonly SignatureRow[] = [
  {
    slug: "sqli-union-select",
    title: "SQL injection: UNION SELECT",
    pattern: UNION_SELECT,
    unless: unitesStatements,
    needs: ["union"],
    hits: [
      "1 union select null,null",
      "-1' UNION ALL SELECT 1,@@version,3-- ",
      "1/**/uNiOn/**/SeLeCt/**/password/**/from/**/users",
      "1 /*!50000union*/ /*!50000select*/ 1,2",
      "0 union(select 1)",
      "x' union select username, password from users--",
    ],
    misses: ["student union select committee members", "the European Union: select a country", "trade union, selection of members"],
  },
  {
    slug: "sqli-split-words",
    title: "SQL injection: a word with a comment inside",
    pattern: String.raw`u/\*[^*/]{0,9}\*/nion|un/\*[^*/]{0,9}\*/ion|uni/\*[^*/]{0,9}\*/on|unio/\*[^*/]{0,9}\*/n|s/\*[^*/]{0,9}\*/elect|se/\*[^*/]{0,9}\*/lect|sel/\*[^*/]{0,9}\*/ect|sele/\*[^*/]{0,9}\*/ct|selec/\*[^*/]{0,9}\*/t`,
    needs: ["nion", "ion", "on", "elect", "lect", "ect", "*/n", "*/ct", "*/t"],
    reading: "plain",
    hits: ["-1' un/**/ion se/**/lect 1,2", "1 UNI/*x*/ON sel/*y*/ect 1"],
    misses: ["src/**/union.ts", "un/*/ion", "selected /* a */ items"],
  },
  {
    slug: "sqli-tautology",
    title: "SQL injection: a condition that always holds",
    pattern: String.raw`['"${"`"}][ )]{0,4}(?:or|and|xor|\|\||&&)[ (]{0,4}(?:not )?(?:['"${"`"}][0-9a-z_@ ]{0,12}['"${"`"}]|[0-9a-z_@.]{1,12}) ?(?:=|<>|!=|<|>|like\b) ?['"${"`"}(0-9a-z_@%]`,
    certainty: "likely",
    unless: isStatement,
    needs: joined(["or", "and", "xor", "||", "&&"]),
    hits: ["' or 1=1", "' OR '1'='1", "x') or ('a'='a", '" or ""="a', "admin' || '1'='1' -- ", "' and 1=2 --", "'/**/or/**/1=1#"],
    misses: ["either 'yes' or 'no' is fine", "it's 5 o'clock or 6", "Rock 'n' Roll and Blues = fun?", "'quoted' and more"],
  },
  {
    slug: "sqli-numeric-tautology",
    title: "SQL injection: a numeric condition after a number",
    pattern: String.raw`^-?\d{1,12}[ )]{1,3}(?:or|and|xor|\|\||&&)[ (]{1,3}(?:not )?-?\d{1,12} ?(?:=|<>|!=|<|>|like\b) ?-?\d`,
    certainty: "likely",
    unless: isStatement,
    needs: ["or ", "or(", "and ", "and(", "||", "&&"],
    hits: ["1 or 1=1", "5) and (3=3", "-1 OR 2>1", "1 and 1=2 union"],
    misses: ["1 or 2 apples", "5 and 6 people", "10 and over"],
  },
  {
    slug: "sqli-comment-end",
    title: "SQL injection: a closing quote followed by a comment",
    pattern: String.raw`^[^'"]{0,64}['"][ );]{0,4}(?:--(?: |$|-)|#$|/\*$|;%00)`,
    certainty: "likely",
    unless: isStatement,
    needs: ["--", "#", "/*", ";%00"],
    hits: ["admin'--", "admin' -- ", "x') #", "1';--"],
    misses: ["it's fine -- really", "say 'hello' -- then leave", "rock'n'roll #1"],
  },
  {
    slug: "sqli-stacked",
    title: "SQL injection: a second statement",
    pattern: SECOND_STATEMENT,
    unless: (text) => isStatement(text) || startsServer(text),
    needs: [";"],
    hits: [
      "1; drop table users",
      "'; insert into admins values(1)--",
      "1);delete from sessions",
      "'; exec xp_dirtree",
      "1;/**/update/**/users/**/set/**/a=1",
      "'; set global log_bin_trust_function_creators=1--",
      "1; pragma table_info(users)",
    ],
    misses: [
      "a; select one of these",
      "(see 5); selected works",
      "'hello'; drop by on Monday",
      "(at 5); set the table",
      "'a'; show me more",
      "sleep 10; exec nginx -g 'daemon off;'",
    ],
  },
  {
    slug: "sqli-time",
    title: "SQL injection: time delays",
    pattern: DELAY,
    unless: namesDelay,
    needs: ["sleep", "benchmark", "waitfor", "dbms_", "randomblob", "generate_series"],
    hits: [
      "1 and sleep(5)",
      "'; waitfor delay '0:0:5'--",
      "1-BENCHMARK(5000000,md5(1))",
      "1||pg_sleep(10)",
      "(select(0)from(select(sleep(15)))v)",
      "dbms_pipe.receive_message('a',5)",
      "sleep(5) except select 1",
      "sleep(5) window www as (order by id)",
      "sleep(5) else null end",
    ],
    misses: ["how to sleep (better)", "benchmark (2024)", "waitfor it", 'summary ~ "sleep(5)" and status != done'],
  },
  {
    slug: "sqli-schema",
    title: "SQL injection: system tables",
    pattern: String.raw`(?:\binformation_schema ?\.|\bfrom ?(?:sys\.)?(?:sysobjects|syscolumns|sys\.tables|sysusers)\b|\bpg_catalog ?\.|\bfrom ?pg_(?:shadow|user|tables|class)\b|\bsqlite_(?:master|schema)\b|\bmysql ?\. ?user\b|\ball_tab(?:les|_columns)\b|\buser_tab_columns\b|\bmsysaccessobjects\b)`,
    certainty: "likely",
    needs: [
      "information_schema",
      "sysobjects",
      "syscolumns",
      "sys.tables",
      "sysusers",
      "pg_catalog",
      "pg_shadow",
      "pg_user",
      "pg_tables",
      "pg_class",
      "sqlite_",
      "mysql",
      "all_tab",
      "user_tab_columns",
      "msysaccessobjects",
    ],
    hits: [
      "select table_name from information_schema.tables",
      "1 union select name from sysobjects",
      "select sql from sqlite_master",
      "mysql.user",
    ],
    misses: ["an information schema for libraries", "mysql users of the world", "sqlite masterclass"],
  },
  {
    slug: "sqli-file",
    title: "SQL injection: reading or writing files",
    pattern: String.raw`(?:\bload_file ?\( ?['"(0c]|\binto (?:out|dump)file ?['"(0]|\bload data (?:local )?infile\b|\bcopy [a-z0-9_]{1,40} (?:from|to) program\b|\butl_(?:http|file|inaddr)\.[a-z_]{2,30} ?\(|\bopenrowset ?\(|\blo_import ?\()`,
    needs: ["load_file", "outfile", "dumpfile", "infile", "program", "utl_", "openrowset", "lo_import"],
    hits: [
      "1 union select load_file('/etc/passwd')",
      "' into outfile '/var/www/s.php",
      "copy t from program 'id'",
      "utl_http.request('http://a')",
    ],
    misses: ["put the data into outfiles", "load file (large)", "copy this from programs"],
  },
  {
    slug: "sqli-procedure",
    title: "SQL injection: stored procedures that access the operating system",
    pattern: String.raw`\b(?:xp_(?:cmdshell|dirtree|fileexist|regread|regwrite|servicecontrol|availablemedia|subdirs)|sp_(?:executesql|oacreate|oamethod|configure|addextendedproc|makewebtask|password)|sys_(?:exec|eval))\b`,
    needs: ["xp_", "sp_", "sys_e"],
    unless: namesProcedure,
    hits: ["'; exec master..xp_cmdshell 'dir'", "exec sp_executesql N'select'", "select sys_eval('id')"],
    misses: ["exp_cmd", "sp_hello", "windows xp_theme"],
  },
  {
    slug: "sqli-error",
    title: "SQL injection: values in error messages",
    pattern: String.raw`(?:\b(?:extractvalue|updatexml) ?\( ?[^,]{1,40}, ?(?:concat|0x|\(|char|\d|null)|\bfloor ?\( ?rand ?\( ?0|\bexp ?\( ?~|\bprocedure analyse ?\(|\bgtid_subset ?\(|\bcast ?\( ?\(? ?select\b|\bconvert ?\( ?int ?, ?\(?[^)]{0,20}select\b|\bctxsys\.drithsx|\bxmltype ?\( ?(?:chr|\())`,
    unless: isStatement,
    needs: ["extractvalue", "updatexml", "floor", "exp", "analyse", "gtid_subset", "cast", "convert", "ctxsys", "xmltype"],
    hits: [
      "1 and extractvalue(1,concat(0x7e,version()))",
      "and updatexml(null,concat(0x0a,user()),null)",
      "floor(rand(0)*2)",
      "1 procedure analyse(1,1)",
      "convert(int,(select @@version))",
    ],
    misses: ["extract value (a, b)", "floor(random)", "cast (the select few)", "explain exp (x)"],
  },
  {
    slug: "sqli-functions",
    title: "SQL injection: functions that reveal the database",
    pattern: String.raw`(?:\b(?:select|and|or|union|where|having|,|=|\() ?\(?(?:@@(?:version|hostname|datadir|basedir|servername)|(?:version|database|schema|user|current_user|session_user|system_user|db_name|suser_name|sqlite_version|banner) ?\( ?\))|\bconcat(?:_ws)? ?\( ?(?:0x|char ?\(|chr ?\(|'~|database|user|version)|\bgroup_concat ?\( ?[a-z_@]|\bchar ?\( ?\d{2,3} ?(?:,|\) ?[+|])|\bchr ?\( ?\d{2,3} ?\) ?\|\|)`,
    unless: isStatement,
    needs: ["@@", "()", "( )", "concat", "char", "chr"],
    hits: [
      "1 and @@version like '5%'",
      "select database()",
      "concat(0x7e,user())",
      "group_concat(table_name)",
      "chr(65)||chr(66)",
      "1=char(65)+char(66)",
    ],
    misses: ["the version () of this", "email user@@example", "char (a letter)", "concat (a, b) in Excel"],
  },
  {
    slug: "sqli-subquery",
    title: "SQL injection: a query within a value",
    pattern: String.raw`[=(,|<>+-] ?\( ?select [^;]{1,80} from `,
    unless: isStatement,
    needs: ["select "],
    hits: ["1=(select count(*) from users)", "1 and 1<(select ascii(x) from y)", "if((select 1 from dual),1,2)"],
    misses: ["(select one from the list)", "please (select) from these"],
    paranoia: 2,
  },
  {
    slug: "sqli-blind",
    title: "SQL injection: comparing single characters",
    pattern: String.raw`\b(?:ascii|ord|unicode) ?\( ?(?:substr|substring|mid|lower|left|right)[a-z]{0,8} ?\(|\b(?:substr|substring|mid) ?\( ?\(? ?(?:select|user|database|version|@@|current_user)|\b(?:left|right) ?\( ?(?:user|database|version|current_user|@@version) ?[(,]`,
    unless: isStatement,
    needs: ["ascii", "ord", "unicode", "substr", "mid", "left", "right"],
    hits: ["1 and ascii(substring(user(),1,1))>64", "and substr((select 1),1,1)=1", "mid(version(),1,1)"],
    misses: ["ascii (table)", "substring of a select list", "left (select a side)"],
  },
  {
    slug: "sqli-order-by",
    title: "SQL injection: counting columns",
    pattern: String.raw`(?:['")]|^-?\d{1,10}) ?(?:order|group) by \d{1,3}(?: ?,| ?--| ?#| ?/\*|$)|\bhaving \d{1,10} ?= ?\d|['")] ?limit \d{1,5} ?, ?\d{1,5} ?(?:--|#|into|procedure|union)`,
    unless: isStatement,
    needs: ["order by", "group by", "having", "limit"],
    hits: ["1 order by 10--", "' order by 3#", "1) group by 5", "' having 1=1--"],
    misses: ["order by 10 pm", "group by 3 people", "having 2 dogs"],
  },
  {
    slug: "sqli-operator-end",
    title: "SQL injection: operators after a quote",
    pattern: String.raw`['"] ?(?:\+|\|\||\*|/|-|\^|%|&) ?(?:['"]|\(? ?select|char|chr|[0-9]{1,6}(?:\+|-|\*|/))|'=['0]`,
    unless: isStatement,
    needs: ["'", '"'],
    hits: ["'=0--+", "'-'", "' || 'a", "x'+'y", "'^'1"],
    misses: ["rock 'n' roll", "it's a-ok", "the 'a'-team's"],
    paranoia: 2,
    certainty: "likely",
  },
  {
    slug: "sqli-keywords",
    title: "SQL: a statement",
    pattern: String.raw`\b(?:select [^;]{1,100} from [a-z0-9_."${"`"}\[\]]{1,60}(?: |$|;|\))|insert into [a-z0-9_."${"`"}\[\]]{1,60} ?[(v]|delete from [a-z0-9_."${"`"}\[\]]{1,60}(?: where|;|$)|update [a-z0-9_."${"`"}\[\]]{1,60} set [a-z0-9_."${"`"}\[\]]{1,60} ?=|drop table |truncate table |alter table )`,
    needs: ["select ", "insert into", "delete from", "update ", "drop table", "truncate table", "alter table"],
    hits: ["select name from users", "insert into t (a)", "delete from t where 1", "update t set a=1", "drop table x"],
    misses: ["select one, then leave", "insert coin", "update your settings"],
    paranoia: 3,
  },
  {
    slug: "sqli-metacharacters",
    title: "SQL: many special characters",
    pattern: String.raw`['"${"`"};()=<>|&*#@\\-](?:[^'"${"`"};()=<>|&*#@\\-]{0,3}['"${"`"};()=<>|&*#@\\-]){7}`,
    needs: ["'", '"', "`", ";", "(", ")", "=", "<", ">", "|", "&", "*", "#", "@", "\\", "-"],
    hits: ["');--('=')#('", "';';';';';';';';"],
    misses: ["a - b - c", "it's 'fine'"],
    paranoia: 4,
  },
  {
    slug: "sqli-expressions",
    title: "SQL injection: an expression instead of a value",
    pattern: String.raw`^\(? ?(?:select )?\(?case when [^ ]{1,20} ?= ?[^ ]{1,20} then |^-?\d{1,6} ?[-+*] ?if ?\(|^[^ ]{1,20} (?:not )?(?:rlike|regexp) ?\(? ?(?:select\b|if ?\(|case when)|^[^'"]{0,60}['"] ?, ?[a-z_."${"`"}]{1,40} ?= ?[^ ,]{1,60} ?(?:where [^;]{1,80})?(?:-- |--[+-]|--$|#$|/\*)|^[a-z_][a-z0-9_.]{0,40} where [a-z0-9']{1,12} ?(?:=|<|>|like) ?[a-z0-9']{1,12} ?(?:--|#$|;)|^(?:''|"") ?(?:=|<>|<|>|like|\|\||or|and) ?(?:''|"")$|\bunion (?:all )?(?:table [a-z_]{1,40}$|values ?(?:row)? ?\()|['"][ )]{0,3}(?:or|and|\|\||&&) ?(?:q'|n'|x'|b'|date'|\{d'|\$\$|~\d|!\d|@[a-z@])|^[^'"]{0,20}['"] into @[a-z]|^\d{1,6} (?:div|mod) \d{1,6} (?:or|and) \d|\\n ?union (?:all )?select\b`,
    unless: isStatement,
    needs: ["case when", "if", "union", "or", "and", "||", "&&", "into @", "rlike", "regexp", "where ", "'", '"'],
    hits: [
      "1 RLIKE (SELECT (CASE WHEN 5=5 THEN 1 ELSE 0x28 END))",
      "(case when 1=1 then id else name end)",
      "1-if(1=1,1,0)",
      "1 union table users",
      "' or q'[a]'='a'--",
      "1 regexp if(2=2,0x28,0)",
      "a', role='x' where id=1-- -",
      "members where 1=1--",
      "''=''",
      "' or $$a$$=$$a$$",
    ],
    misses: [
      "in case when it rains",
      "the union table is reserved",
      "'a' or ~b",
      "the place where 1 = one",
      "''",
      "a', b = c",
      "name = 'a', size = 5",
    ],
  },
  {
    slug: "sqli-tokens",
    title: "SQL injection: text that becomes part of a statement",
    detect: injectsOtherwise,
    needs: [
      "'",
      '"',
      "or",
      "and",
      "||",
      "&&",
      "union",
      "select",
      ";",
      "--",
      "/*",
      "#",
      "sleep",
      "benchmark",
      "order by",
      "having",
      "waitfor",
      ")",
      "@@",
    ],
    reading: "lines",
    hits: [
      "' UNION SELECT username || ':' || password FROM users--",
      "' or true--",
      "' or 1 --",
      "1'or'1",
      "1e0union select",
      "1 union distinctrow select 1",
      "' or id in (1,2)#",
      "1 or 1 between 0 and 2--",
      '1")) as a where 1=1 and 2=2#',
      "x') as a where 3=3",
      "1' in boolean mode) or 1=1#",
      "1,(select (case when (1=2) then 1 else 0 end))",
      "%' and '%'='",
      "ada.lovelace@example-company.com '--'",
      "administratorlongname '--x'",
      "no such user at all '='",
      "the option '--' does it in all cases\nor id>0 -- ",
      "this is the sign '/*' of a comment */or id>0-- ",
      "the words before '/'1 and behind",
      "the words before '/' .5 and behind",
      "administrator' or username like '%' ",
      "@@version",
      "if(1=1,id,name)",
      "1 or username like '%' or password like '%'",
      '<!doctype html public "or 1 -- ">',
      "<a href='#top'>\nor id>0 -- ",
    ],
    misses: [
      "Benchmark (2024) results",
      "sleep(8h) = happy",
      'status in ("Open","In Progress") OR assignee = currentUser()',
      'project = X AND "Epic Link" = "X-1"',
      "select name, count(*) from orders where state = 'open' or state = 'new' group by name",
      "rock 'n' roll",
      "2 > 1 or 1 < 2",
      "it's 5 o'clock -- somewhere",
      "the sign '/' stands between the parts of a path",
    ],
  },
];

export const SQL_INJECTION: readonly Signature[] = signaturesOf("sqli", ROWS, "sql");
