import { createChoice, filled } from "./generated.ts";
import type { RequestChanges } from "./managed-request.ts";

const post = (type: string, body: string): RequestChanges => ({
  headers: { "content-type": [type] },
  body: Buffer.from(body).toString("latin1"),
});

/** How a text of a kind of work reaches a server. */
const SENT: Readonly<Record<string, readonly ((text: string) => RequestChanges)[]>> = {
  query: [(text) => ({ query: `q=${encodeURIComponent(text)}&page=2` })],
  text: [
    (text) => post("application/json", JSON.stringify({ title: "x", body: text, labels: ["bug", "p2"] })),
    (text) => post("application/x-www-form-urlencoded", `title=x&body=${encodeURIComponent(text)}`),
    (text) => post("multipart/form-data; boundary=X", `--X\r\nContent-Disposition: form-data; name="body"\r\n\r\n${text}\r\n--X--\r\n`),
  ],
  value: [
    (text) => ({ query: `q=${encodeURIComponent(text)}` }),
    (text) => post("application/json", JSON.stringify({ name: text })),
    (text) => post("application/x-www-form-urlencoded", `name=${encodeURIComponent(text)}`),
    (text) => ({ headers: { Cookie: [`last=${encodeURIComponent(text)}; theme=dark`] } }),
  ],
};

const SLOTS: Readonly<Record<string, readonly string[]>> = {
  name: [
    "O'Brien",
    "D'Angelo",
    "Müller",
    "Nguyễn Thị Hoa",
    "李小龍",
    "Jean-Luc",
    "N'Golo",
    "O’Connor",
    "Smith & Sons",
    "van 't Hoff",
    "Zoë",
    "Иван",
  ],
  word: [
    "order",
    "report",
    "invoice",
    "select",
    "union",
    "drop",
    "table",
    "script",
    "system",
    "update",
    "password",
    "group",
    "cat",
    "echo",
    "sleep",
    "alert",
  ],
  project: ["ABC", "WEB", "OPS"],
  status: ["Open", "In Progress", "Done", "To Do"],
  number: ["1", "7", "42", "2026", "19.99", "1,234.50"],
  table: ["orders", "users", "cpu_usage", "public.events", "http_requests"],
  column: ["name", "total", "created_at", "host", "state"],
  path: ["src/index.ts", "docs/README.md", "/var/lib/app/data.json", "../lib/util.js", "C:\\Projects\\app\\main.cs", "~/.config/app"],
  url: [
    "https://example.com/a?b=c&d=e",
    "https://www.youtube.com/embed/dQw4w9WgXcQ",
    "https://shop.example/p/1?utm_source=mail&ref=a",
    "http://localhost:3000/callback",
  ],
  command: [
    "npm ci && npm test",
    "git status",
    "docker compose up -d",
    "kubectl get pods -n prod | grep api",
    "ls -la",
    "cd /tmp && tar xzf a.tar.gz",
    "export PATH=$PATH:/opt/bin",
    "curl -s https://example.com/health",
    "ps aux | grep node",
  ],
  code: [
    "const a = b || c;",
    "if (x > 1 && y < 2) { return 'a'; }",
    "for (let i = 0; i < n; i++) total += items[i].price;",
    'print(f"{name}: {value}")',
    "x = [i for i in range(10) if i % 2]",
    "console.log(`a ${obj} b`);",
    "a = b;",
    "const fs = require('fs');",
    "import os",
    "public static void main(String[] args) {}",
    "document.getElementById('a').textContent = 'b';",
    "<Button onClick={save}>Save</Button>",
  ],
};

const WORK: readonly (readonly [sent: keyof typeof SENT, form: string])[] = [
  ["query", 'status in ("‹status›","‹status›") OR assignee = currentUser()'],
  ["query", 'project = ‹project› AND status != "‹status›" ORDER BY created DESC'],
  ["query", 'project = ‹project› AND "Epic Link" = ‹project›-‹number› AND "Story Points" > 3'],
  ["query", 'text ~ "‹word›" AND labels in (a, b) OR summary ~ "‹name›"'],
  ["query", 'assignee = "‹name›" and resolution is EMPTY order by priority'],
  ["query", 'level:error AND service:"‹word›" AND NOT status:‹number›'],
  ["query", "index=main ‹word› | stats count by host | sort -count | head 10"],
  ["query", '{app="‹word›"} |= "error" | json | line_format "{{.msg}}"'],
  ["query", 'sum(rate(http_requests_total{job="‹word›"}[5m])) by (le) > 0.5 and up == 1'],
  ["query", 'is:issue is:open label:bug author:‹word› "‹word› ‹word›"'],
  ["query", "‹word› -‹word› OR (‹word› AND ‹word›)"],
  ["query", "$filter=name eq '‹name›' and price lt ‹number›"],
  ["query", "‹word›,‹word›;‹column› desc"],
  ["query", "‹column›:asc|‹column›:desc"],
  [
    "text",
    '<p>Hello ‹name›,</p>\n<iframe src="https://www.youtube.com/embed/x?a=1&b=2" width="560" height="315" frameborder="0" allowfullscreen></iframe>\n<p>‹word› & ‹word›</p>',
  ],
  ["text", '<!-- wp:paragraph --><p class="a">‹name› said: “‹word›” &#8217;s <a href="‹url›">link</a></p><!-- /wp:paragraph -->'],
  ["text", '<h2 style="color:red">‹word›</h2><ul><li>‹name›</li><li>‹number› €</li></ul><img src="/a.png" alt="‹name›\'s photo"/>'],
  ["text", '<img src="data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=" alt="‹word›"><svg class="i"><use xlink:href="#icon-a"></use></svg>'],
  [
    "text",
    '<!DOCTYPE html><html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"><title>‹word›</title></head><body><p>‹name›</p></body></html>',
  ],
  ["text", '[gallery ids="1,2,3"]\n[contact-form-7 id="‹number›" title="‹word›"]'],
  ["text", "How to run; ‹command›"],
  ["text", "Steps:\n1. `‹command›`\n2. open ‹url›\n3. see ‹path›\n\nExpected: ‹word›; got `‹code›`"],
  ["text", "```sh\n$ ‹command›\n$ ‹command›\n```\nIt doesn't work for ‹name›. Don't know why -- maybe ‹word›?"],
  ["text", "```js\n‹code›\n‹code›\n```\nfails with `TypeError: Cannot read properties of undefined (reading '‹column›')`"],
  [
    "text",
    "```sql\nSELECT ‹column›, count(*) FROM ‹table› WHERE ‹column› = 'a' GROUP BY 1 ORDER BY 2 DESC;\n```\nis slow, it's ‹number› ms",
  ],
  ["text", "Edit /etc/hosts and restart nginx; then check /var/log/nginx/error.log. ‹name›"],
  ["text", "# ‹word›\n\n* **‹name›** - ‹number›\n* [x] ‹word› (see #‹number›)\n\n| a | b |\n|---|---|\n| 1 | `id` |\n"],
  ["text", "image: node:24\nscript:\n  - npm ci\n  - ‹command›\nservices:\n  - postgres:16\nenv:\n  PORT: ${PORT:-8080}\n"],
  ["text", "#!/bin/bash\nset -e\n‹command›\n"],
  [
    "text",
    "body { color: #333; } .a > .b { background: url(\"/img/‹word›.png\"); top: 5px; left: 3px }\n@import url('https://fonts.googleapis.com/css2?family=Inter');\n@media (max-width: ‹number›px) { a:hover { top: 0; } }",
  ],
  [
    "text",
    "function init() {\n  const el = document.getElementById('‹word›');\n  el.addEventListener('click', () => { window.scrollTo(0, 0); });\n  ‹code›\n}\ninit();",
  ],
  [
    "text",
    "Traceback (most recent call last):\n  File \"/usr/lib/python3/site.py\", line ‹number›, in <module>\n    ‹code›\nValueError: invalid literal for int() with base 10: '‹word›'",
  ],
  [
    "text",
    'Exception in thread "main" java.lang.NullPointerException\n\tat com.example.App.run(App.java:‹number›)\n\tat java.lang.Thread.run(Thread.java:750)',
  ],
  ["text", "Hi ‹name›,\r\n\r\nthanks for your ‹word›! We'll pay $‹number› (or €‹number›) -- ok?\r\n\r\nTo: do\r\nBest, ‹name›"],
  ["text", "Il s'agit d'une ‹word› de l'entreprise ; qu'en pensez-vous ? C'est l'or ou l'argent. ‹name›"],
  ["text", "¿Cuánto cuesta? ¡‹number› euros! Größe 10–20 cm; 5' 10\" — ‹name›"],
  ["text", "お支払いは‹number›円です（税込）。“‹name›”さん、ありがとう！ ‹url›"],
  ["text", "E = mc^2; a^2 + b^2 = c^2; f(x) = (x+1)/(x-1), x != 1; 2 > 1 and 3 < 5; P(A|B) = ‹number›"],
  ["text", "{{#each items}}<li>{{name}} – {{ price }}</li>{{/each}} {% if user %}Hi {{ user.name }}{% endif %} <%= name %> ${total}"],
  ["text", "{{ .Values.image }} {{ .Release.Namespace }} ${{ env.CI }} {{ config.title }} {{ request.path }}"],
  ["text", "apiVersion: v1\nkind: Service\nmetadata:\n  namespace: ‹word›\nspec:\n  host: a\n  location: b\n"],
  ["text", "GET /api/v1/‹word›?id=‹number› HTTP/1.1\nHost: example.com\nContent-Type: application/json\nAuthorization: Bearer x"],
  ["text", "diff --git a/‹path› b/‹path›\n@@ -1,3 +1,4 @@\n-‹code›\n+‹code›\n"],
  ["text", 'a,b;c\n"‹name›";‹number›;x\n‹word›;‹number›;y\n'],
  ["text", "INSERT INTO ‹table› (‹column›, ‹column›) VALUES ('a', ‹number›);"],
  ["value", "SELECT ‹column›, avg(total) FROM ‹table› WHERE host = 'a' AND $__timeFilter(time) OR ‹column› = 'b' GROUP BY 1 ORDER BY 1"],
  ["value", "SELECT * FROM ‹table› WHERE ‹column› LIKE '%a%' UNION ALL SELECT * FROM archive WHERE 1=1 LIMIT ‹number›"],
  ["value", "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"],
  ["value", "UPDATE ‹table› SET ‹column› = 'x' WHERE id = ‹number›"],
  ["value", "CREATE TABLE ‹table› (id int primary key, ‹column› varchar(20) default '')"],
  ["value", "WITH t AS (SELECT ‹column› FROM ‹table›) SELECT * FROM t WHERE ‹column› > ‹number›"],
  ["value", "DELETE FROM ‹table› WHERE ‹column› IS NULL OR id < ‹number›"],
  ["value", 'query { user(id: ‹number›) { ‹column› posts(first: 10, filter: {state: "open"}) { title } } }'],
  ["value", 'mutation($a: Int!) { add‹word›(a: $a, name: "‹name›") { id } } fragment F on User { id }'],
  ["value", "‹name›"],
  ["value", "‹name› ‹name›"],
  ["value", "‹name› & ‹name›; ‹word›"],
  ["value", "‹number›%"],
  ["value", "$‹number›"],
  ["value", "‹number› € – ‹number› €"],
  ["value", "‹path›"],
  ["value", "‹url›"],
  ["value", "‹code›"],
  ["value", "‹word› and ‹word› or ‹word›"],
  ["value", "‹word›|‹word›|‹column›"],
  ["value", "‹column›,-‹column›"],
  ["value", '=IF(A‹number›>1,"‹word›",B2*2)'],
  ["value", '=SUM(A1:A9)&" ‹word›"'],
  ["value", "^[a-z]+(‹word›|‹word›)$"],
  ["value", "*/5 * * * * /usr/local/bin/‹word› --quiet"],
  ["value", "src/**/test/*.ts"],
  ["value", "p@ss'w0rd\"‹number›!;--x"],
  ["value", "it's 5 o'clock -- ‹word›"],
  ["value", "rock 'n' roll & ‹word›"],
  ["value", "‹word› (‹word›) [‹number›]"],
  ["value", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI‹number›In0.c2lnbmF0dXJl"],
  ["value", "SGVsbG8gd29ybGQhIEhvdyBhcmUgeW91Pw=="],
  ["value", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="],
  ["value", "/usr/bin/python3"],
  ["value", "/bin/bash"],
  ["value", "2026-11-22T03:00:00+01:00"],
  ["value", "192.168.‹number›.1"],
  ["value", "user+tag@example.com"],
  ["value", "#‹number› in sales; ‹word›"],
  ["value", "color: red; top: 5px"],
  ["value", "text/html; charset=utf-8"],
  ["value", "a=1&id=5&type=‹word›"],
  ["value", "Don't ‹word›; select the best"],
  ["value", "C++ > C#? ‹word›"],
];

const SENTRY = (choose: <T>(items: readonly T[]) => T): RequestChanges => {
  const lines = [
    { event_id: "9ec79c33ec9942ab8353589fcb2e04dc", dsn: "https://key@o1.ingest.example/2", sent_at: "2026-11-22T03:00:00Z" },
    { type: "event" },
    {
      exception: {
        values: [
          {
            type: "TypeError",
            value: `Cannot read '${choose(SLOTS["column"]!)}' of null`,
            stacktrace: {
              frames: [
                {
                  filename: "/usr/src/app/node_modules/pg/lib/client.js",
                  function: "exec",
                  context_line: `    ${choose(SLOTS["code"]!)}`,
                  pre_context: ["  document.cookie = a;", "  el.innerHTML = b;"],
                  lineno: 7,
                },
              ],
            },
          },
        ],
      },
      breadcrumbs: [
        {
          category: "query",
          message: `SELECT * FROM ${choose(SLOTS["table"]!)} WHERE id = %s AND name = '${choose(SLOTS["word"]!)}' OR 1 = 1`,
        },
        { category: "console", message: "it's done; ls -la" },
      ],
      contexts: { runtime: { name: "node", build: "/usr/bin/node" } },
      request: { url: choose(SLOTS["url"]!), headers: { "User-Agent": "curl/8.5.0" } },
      user: { username: choose(SLOTS["name"]!) },
    },
  ];
  return post(choose(["application/x-sentry-envelope", "text/plain;charset=UTF-8"]), lines.map((line) => JSON.stringify(line)).join("\n"));
};

/** `count` requests of real work: languages for searches, posts, issues, code, prices and names of many languages, telemetry. */
export function generatedBenign(count: number, seed: number): readonly RequestChanges[] {
  const choose = createChoice(seed);
  return Array.from({ length: count }, (_, place) => {
    if (place % 20 === 0) return SENTRY(choose);
    const [sent, form] = WORK[place % WORK.length]!;
    return choose(SENT[sent]!)(filled(form, SLOTS, choose));
  });
}
