import { charge } from "#rules/budget.ts";
import { signaturesOf, type SignatureRow } from "./rows.ts";
import { isInternalAddress } from "./internal-address.ts";
import { isSharedFile, namesSystemFile } from "./system-files.ts";
import { ANYWHERE, ARGUMENTS, COOKIES, FILES, HEADERS, INPUT, PATH, UPLOADS } from "./values/places.ts";
import type { Signature } from "./signature.ts";

const INCLUSION: readonly SignatureRow[] = [
  {
    slug: "lfi-traversal",
    title: "Path traversal: several ../ steps",
    pattern: String.raw`(?:^|[/=:;,?&"' ({@])(?:\.{2,4};?/){2}`,
    needs: ["../", "..;/"],
    unless: isImport,
    targets: INPUT | PATH | FILES | HEADERS,
    hits: [
      "../../../../etc/hosts",
      "..\\..\\windows\\win.ini",
      "%2e%2e%2f%2e%2e%2f",
      "..%252f..%252fx",
      "..%c0%af..%c0%afx",
      "/static/../../x",
      "....//....//etc",
      "..%u2215..%u2216/../../x",
    ],
    misses: ["wait.../then", "a../b", "see ../next", "the file is at ../../shared/config.yml"],
  },
  {
    slug: "lfi-odd-step",
    title: "Path traversal: a ../ step with an encoded slash, or to a sensitive file",
    pattern: String.raw`\.\.(?:[\xc0\xc1]|%(?:[a-z0-9]{2}|u[0-9a-f]{4})|0x[0-9a-f]{2}|2f\.\.2f|2f(?:etc|var|usr|proc)|5c\.\.5c|c0af|c1(?:9c|af)|\x1a)|(?:^|[/=:;,?&"' ])\.\.;?/[^ ]{0,120}(?:etc/|passwd|shadow|\.ini|\.conf(?:[^i]|$|i[^g]|ig(?:[^.]|$|\.[^cmjt]))|\.env|\.git(?:[^aihl]|$)|\.ssh|\.htaccess|web-inf|web\.config|wp-config|/?conf(?:ig)?/[\w./-]{1,60}\.(?:properties|ya?ml|php|ini)$|id_rsa|access[._]log|error[._]log|proc/self)|(?:^|/)\.{5,64}/(?:\.{2,64}/)?|(?:\.\.(?: |;[a-z0-9=]{1,20})/){2}`,
    needs: [".."],
    targets: ANYWHERE | FILES,
    hits: ["..0x5c..0x5cx", "../etc/shadow", "..2f..2fetc2fpasswd", "/..%c1%pc../x", "../.env", "/......../x", "..;/WEB-INF/web.xml"],
    misses: [
      "../images/logo.png",
      "wait...",
      "50..%",
      "see ../README.md",
      "a..b",
      "prettier --config ../prettier.config.js --ignore-path ../.gitignore",
    ],
  },
  {
    slug: "lfi-step",
    title: "Path traversal: one ../ step",
    pattern: String.raw`(?:^|/|=)\.\.(?:/|;/|$)`,
    needs: [".."],
    targets: ARGUMENTS | PATH | FILES,
    hits: ["../secret", "/a/../b", "..;/manager/html"],
    misses: ["a..b", "wait..."],
    paranoia: 2,
  },
  {
    slug: "lfi-tomcat",
    title: "Path traversal: a path parameter in a ../ step",
    pattern: String.raw`/\.\.;[a-z0-9=]{0,20}/`,
    targets: PATH | INPUT,
    hits: ["/app/..;/manager/html", "/..;a=b/console"],
    misses: ["/a;b/c", "/a..;b"],
  },
  {
    slug: "lfi-unix-files",
    title: "Local file inclusion: Unix system files",
    detect: namesSystemFile,
    targets: INPUT | PATH | FILES | HEADERS,
    needs: [
      "etc/",
      "proc/",
      "sys/",
      "var/",
      "root/.",
      "home/",
      "usr/",
      "opt/",
      "dev/",
      "boot/",
      "web-inf/",
      "php.ini",
      "log",
      "conf/",
      "system/",
      "library/webserver",
      "volumes/",
      "private/",
      "/.",
      ".bash",
      ".ssh",
      ".profile",
      ".netrc",
      ".ht",
      "php/",
    ],
    hits: [
      "/etc/passwd",
      "....//....//etc/passwd",
      "/etc/./shadow",
      "/proc/self/environ",
      "/etc//passwd%00.png",
      "/var/log/apache2/access.log",
      "/proc/1/cmdline",
      "file=/var/run/secrets/token",
    ],
    misses: [
      "etc. passwords",
      "/products/self",
      "the /var/logs",
      "/docs/etc/how-to",
      "/files/etc/passwd.md",
      "add it to /etc/fstab and reboot",
      "/usr/bin/python3",
      "/usr/share/doc",
      "/home/me/notes.txt",
      "/logistics",
    ],
  },
  {
    slug: "lfi-base64",
    title: "Path traversal in base64",
    pattern: String.raw`^(?:li4v){2}|^l2v0yy9(?:wyxnz|zagfkb|ncm91c|ob3n0)`,
    beginsValue: true,
    needs: ["li4vli4v", "l2v0yy9"],
    targets: INPUT | PATH,
    hits: ["Li4vLi4vLi4vZXRjL3Bhc3N3ZA==", "L2V0Yy9wYXNzd2Q="],
    misses: ["Li4v", "SGVsbG8gd29ybGQ="],
  },
  {
    slug: "lfi-windows-files",
    title: "Local file inclusion: Windows system files",
    pattern: String.raw`(?:^|[/:=" '])(?:(?:windows|winnt)/(?:win\.ini|system\.ini|system32/(?:drivers|config|cmd|inetsrv|logfiles|eula)|repair/|debug/|php\.ini|panther/|temp/|my\.ini)|inetpub/(?:wwwroot|logs|ftproot)|(?:c|d|e):/(?:windows/|winnt/|programdata/|unattend\.xml|boot\.ini|inetpub/|xampp/|wamp|apache|php[0-9]?/|nginx/|mysql/|autoexec|program files(?: \(x86\))?/(?:apache|mysql|php|filezilla|xampp|microsoft iis|tomcat)|users/(?:[a-z0-9._]{1,30}/(?:appdata/|ntuser|\.ssh|\.aws)|administrator/)|documents and settings/))|[/:]boot\.ini|^%(?:windir|systemroot|systemdrive|programdata|appdata)%/`,
    targets: INPUT | PATH | FILES | HEADERS,
    unless: directsToFile,
    needs: ["windows/", "winnt/", "inetpub/", "c:/", "d:/", "e:/", "boot.ini", "%/"],
    hits: [
      "c:\\windows\\win.ini",
      "..\\..\\boot.ini",
      "C:/Windows/System32/drivers/etc/hosts",
      "/winnt/system32/cmd.exe",
      "c:\\inetpub\\wwwroot\\web.config",
    ],
    misses: ["Windows 11", "reboot.initial", "the windows/doors section"],
  },
  {
    slug: "lfi-secrets",
    title: "Files with secrets",
    pattern: String.raw`/(?:\.(?:git/(?:config|head|index|logs|objects|refs)|svn/(?:entries|wc\.db)|hg/(?:hgrc|store)|env(?:\.[a-z0-9_-]{1,20}|~)?$|aws/credentials|ssh/(?:id_|authorized_keys|config)|ht(?:passwd|access)(?:$|[.~/])|npmrc|pypirc|netrc|pgpass|my\.cnf|docker/config\.json|kube/config|dockercfg|bash_history|mysql_history|ds_store|vscode/(?:settings|sftp)\.json|idea/(?:workspace|datasources)\.xml|travis\.yml|wp-config\.php\.[a-z]{1,6})|id_(?:rsa|dsa|ecdsa|ed25519)$|wp-config\.(?:php[.~_-]|txt|bak|old|inc)|web\.config(?:$|~|\.(?:bak|old|orig|save|txt)$)|appsettings\.json$|(?:database|secrets|credentials)\.ya?ml$|terraform\.tfstate|server-status$|phpinfo\.php|composer\.(?:lock|json)$|cvs/(?:entries|root|repository)$|\.(?:remote-sync|ftp|sftp)-?config(?:\.json)?$|wp-content/debug\.log$|\.bzr/|(?:service-?account(?:-?key)?|client_secrets?|credentials)\.json$)|^/(?:\.git(?:ignore|attributes|modules|lab-ci\.yml)|yarn\.lock|package-lock\.json|pnpm-lock\.yaml|application(?:-[a-z]{2,12})?\.(?:ya?ml|properties)|(?:server|private|privkey|ssl|domain|localhost)\.(?:key|pem)|nginx_status|jenkinsfile|error_log|parameters\.ya?ml)$`,
    needs: [
      "/.",
      "id_",
      "wp-config",
      "web.config",
      "appsettings",
      "database.y",
      "secrets.y",
      "credentials.y",
      "tfstate",
      "server-status",
      "phpinfo",
      "composer.",
      "cvs/",
      "debug.log",
      "account",
      "client_secret",
      "credentials.json",
      "lock",
      "application",
      ".key",
      ".pem",
      "nginx_status",
      "/jenkinsfile",
      "/error_log",
      "/parameters.y",
    ],
    targets: PATH,
    unless: isExample,
    hits: [
      "/.git/config",
      "/app/.env",
      "/.env.production",
      "/.aws/credentials",
      "/wp-config.php.bak",
      "/wp-config.php~",
      "/.ssh/id_rsa",
      "/server-status",
      "/phpinfo.php",
      "/.svn/entries",
      "/CVS/Entries",
      "/serviceAccountKey.json",
      "/application-prod.yml",
      "/private.pem",
    ],
    misses: ["/.well-known/acme-challenge/x", "/environment", "/git/config", "/about.gitignore-help", "/.envoy", "/app/.env.example"],
  },
  {
    slug: "lfi-program-copies",
    title: "Copies of programs that editors and people leave behind, which servers show as text",
    pattern: String.raw`/[\w.-]{1,60}\.(?:php\d?|phtml|aspx?|jspx?|py|rb|cgi)(?:~|\.(?:bak|old|orig|save|sw[op]|backup|copy|tmp))$`,
    needs: ["~", ".bak", ".old", ".orig", ".save", ".sw", ".backup", ".copy", ".tmp"],
    targets: PATH,
    hits: ["/admin/index.php.bak", "/login.aspx~", "/.settings.php.swp"],
    misses: ["/index.php", "/notes.bak", "/~anna/index.php", "/a.php.txt"],
  },
  {
    slug: "lfi-backups",
    title: "Backup and temporary files",
    pattern: String.raw`\.(?:bak|old|orig|backup|swp|swo|save|sql|sqlite3?|mdb|log|dump|tar\.gz|tgz|cfg|conf|ini|inc|pem|key|p12|pfx)(?:\.[a-z0-9]{1,4})?$|~$`,
    needs: [".", "~"],
    targets: PATH,
    hits: ["/index.php.bak", "/backup.sql", "/site.tar.gz", "/config.inc", "/index.php~"],
    misses: ["/bakery", "/a.png", "/login"],
    paranoia: 2,
  },
  {
    slug: "lfi-wrappers",
    title: "Local file inclusion: stream wrappers",
    pattern: String.raw`(?:^|[=:" '(/])(?:php://(?:input|filter|memory|temp|stdin|fd)|phar://|zip://|compress\.(?:zlib|bzip2)://|expect://|glob://|data://|ogg://|rar://|ssh2\.[a-z]{3,6}://|zlib:|file:///?[a-z./]|data:[^, ]{0,40},(?:<\?|pd9|pd8)|local_file://|unix:/)`,
    unless: mentionsFile,
    targets: INPUT | PATH | HEADERS,
    hits: [
      "php://filter/convert.base64-encode/resource=index",
      "phar://x.jpg",
      "expect://id",
      "file:///etc/hosts",
      "data://text/plain;base64,PD9waHA=",
    ],
    misses: ["php: input", "https://a.example/file", "a profile: //x"],
  },
  {
    slug: "lfi-hidden-files",
    title: "Local file inclusion: file names that suggest secrets",
    pattern: String.raw`^/(?:[\w.-]{1,40}/){0,4}(?:\.(?:env(?:\.[a-z]{1,12})?|htaccess|htpasswd|ds_store|git-credentials|pgpass|my\.cnf|dockercfg)|web\.config|phpinfo\.php|server-status|actuator/(?:env|heapdump|configprops|jolokia))$|^classpath\*?:[^ ]{1,80}\.(?:properties|ya?ml|xml)$|^[^ ?#]{0,200}?(?:(?:^|/)\.(?:git/(?:config|head|index|logs)|svn/(?:entries|wc\.db)|ssh/(?:id_|authorized|config|known)|aws/(?:credentials|config)|kube/config|docker/config)|(?:^|/)(?:web|meta)-inf/(?:[\w-]{1,40}\.xml$|web\.xml|classes/|manifest|context)|wp-config\.php(?:[.~_-][a-z]{0,6})$|tomcat-users\.xml|/var/(?:www|run)/[^ ]{0,80}(?:wp-config|\.env|docker\.sock|settings\.py|config\.php)|^/sys/(?:class|kernel|devices|block)/|^/(?:run/secrets|tmp/sess_)|/(?:dump|backup|database|db|site|www|wordpress|mysql)[a-z0-9_-]{0,20}\.(?:sql|bak|old|zip|tgz|tar|7z|rar)(?:\.(?:gz|bz2|xz))?$|/config[a-z0-9_-]{0,20}\.(?:php|inc)[.~](?:old|bak|save|orig|txt)?$)`,
    targets: INPUT | HEADERS | PATH,
    unless: (path) =>
      isExample(path) ||
      isSharedFile(path) ||
      /\/(?:dump|backup|database|db)-(?:tool|plugin|manager|client|guide|app|utils?|master|main|v\d[\d.]{0,8})\.zip$/.test(path),
    needs: [
      "/run/",
      "/tmp/",
      "/dump",
      "/backup",
      "/database",
      "/db",
      "/site",
      "/www",
      "/wordpress",
      "/mysql",
      "/config",
      ".git/",
      ".svn/",
      ".ssh/",
      ".aws/",
      ".kube/",
      ".docker/",
      "-inf/",
      "wp-config",
      "tomcat-u",
      "/var/",
      "/sys/",
      "/.",
      "web.config",
      "phpinfo",
      "server-status",
      "actuator/",
      "classpath",
    ],
    hits: [".git/config", "~/.ssh/id_rsa", "WEB-INF/classes/application.properties", "wp-config.php.bak", "/var/run/docker.sock"],
    misses: ["the .git/config file", ".gitignore", "https://a.example/web-information", ".npmrc", "/server-status-page"],
  },
  {
    slug: "lfi-nul",
    title: "A NUL byte in a name",
    pattern: String.raw`^[!-~]{1,200}\x00(?:$|\.[a-z0-9]{1,5})`,
    beginsValue: true,
    needs: ["\0"],
    targets: PATH | ARGUMENTS | FILES,
    hits: ["index.php\0.png", "/x/y%00"],
    misses: ["100%", "a0b"],
  },
];

const REQUESTS: readonly SignatureRow[] = [
  {
    slug: "ssrf-metadata",
    title: "Server-side request forgery: cloud metadata",
    pattern: String.raw`(?:169\.254\.169\.254|169\.254\.170\.2|metadata\.google\.internal|metadata/(?:instance|v1\.json|v1/)|100\.100\.100\.200|fd00:ec2::254|\[::ffff:a9fe:a9fe\]|0xa9fea9fe|2852039166|025177524776|latest/(?:meta-data|user-data|dynamic/instance-identity)|computemetadata/v1|instance-data\.ec2)`,
    unless: (text) => /^\/?(?:[a-z]{2,20} ){0,6}169\.254\.169\.254(?: [a-z]{2,20}){1,8}\??$/.test(text),
    targets: INPUT | HEADERS | PATH,
    hits: [
      "http://169.254.169.254/latest/meta-data/",
      "http://metadata.google.internal/computeMetadata/v1/",
      "http://2852039166/",
      "http://100.100.100.200/latest/meta-data",
    ],
    misses: ["the metadata of instances", "http://169.254.1.1x/", "latest dynamic"],
  },
  {
    slug: "ssrf-local",
    title: "Server-side request forgery: this machine or its network",
    pattern: String.raw`^(?:https?|ftp|gopher|dict|ldap|tftp)://(?:[^/@ ]{1,60}@)?(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|127\.1|0\.0\.0\.0|0x7f[0-9a-f.x]{1,10}|2130706433|017700000001|\[(?:::1?|::ffff:[0-9a-f:.]{3,20}|0:0:0:0:0:0:0:1|fe80:[0-9a-f:]{1,30}|f[cd][0-9a-f:]{3,40})\]|10\.\d{1,3}\.\d{1,3}\.\d{1,3}|192\.168\.\d{1,3}\.\d{1,3}|172\.(?:1[6-9]|2\d|3[01])\.\d{1,3}\.\d{1,3}|[a-z0-9.-]{1,60}\.(?:internal|local|localdomain|nip\.io|xip\.io|sslip\.io|localtest\.me))(?:[:/?#]|$)`,
    needs: ["://"],
    hits: [
      "http://localhost:8080/admin",
      "http://127.0.0.1/",
      "http://[::1]/",
      "http://10.0.0.1/",
      "http://192.168.1.1/x",
      "http://2130706433/",
      "http://a.nip.io/",
      "http://user@127.0.0.1/",
    ],
    misses: ["https://example.com/localhost", "http://10.example.com/", "https://local.example/"],
    certainty: "likely",
    score: 5,
  },
  {
    slug: "ssrf-internal",
    title: "Server-side request forgery: this machine, obfuscated or by its services",
    detect: isInternalAddress,
    needs: [":/", ":\\", "//", "\\\\", "http"],
    targets: INPUT | HEADERS | PATH,
    hits: [
      "http://127.0.0.1/",
      "http://localhost/admin",
      "http://2130706433/",
      "http://[::1]:22/",
      "http://0x7f.1/",
      "http://a@127.0.0.1/",
      "http://127.0.0.1:6379/",
      "http://10.0.0.1.nip.io/",
    ],
    misses: ["http://localhost:3000/callback", "http://127.0.0.1:53682/", "https://example.com/localhost", "http://localhost.example/"],
  },
  {
    slug: "ssrf-schemes",
    title: "Server-side request forgery: protocols that web pages do not use",
    pattern: String.raw`(?:^|[=" '(,])(?:gopher|dict|ldaps?|tftp|netdoc|jar:(?:https?|file)|smb|sftp|rmi|jndi|imap|pop3|telnet)://?[a-z0-9._\[]`,
    needs: [":/"],
    unless: isDirectory,
    targets: INPUT | HEADERS | PATH,
    hits: ["gopher://127.0.0.1:6379/_SET", "dict://localhost:11211/", "ldap://evil.example/a", "jar:http://evil.example!/x"],
    misses: ["the dict: //", "https://ldap.example/", "a dictionary"],
  },
  {
    slug: "rfi-address",
    title: "Remote file inclusion: a URL with an ending typical of inclusions",
    pattern: String.raw`^(?:(?:https?|ftps?):)?//[^ ]{3,200}(?:\?{1,2}$|\.(?:php[345]?|phtml|asp|jsp|txt|inc)\?{1,2}(?:$|[^=]{0,20}$)|%00$)|^(?:(?:https?|ftps?):)?//[^ ?#]{3,200}/(?:shell|cmd|c99|r57|wso|b374k|webshell|backdoor|exploit|payload|rfi|evil|hack(?:ed)?|r0nin|mini|up|sh)\d{0,3}\.(?:txt|php\d?|phtml|jsp|aspx?|gif|jpg)(?:$|\?)|^(?:https?|ftp)://(?:[^@/ ]{1,40}@)?\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d{1,5})?/[^ ?]{0,80}\.(?:txt|php\d?|phtml|sh|pl|cgi|aspx?|jsp|exe|ps1|hta|elf|bin)(?:$|\?)|^ftps?://[^ ?]{3,200}\.(?:php[345]?|phtml|asp|jsp)$|^\\\\[a-z0-9_.-]{1,60}\\(?:[a-z]\$|admin\$|ipc\$|[^\\ ]{1,60}\\[^ ]{0,80}\.(?:php\d?|phtml|aspx?|jspx?|exe|dll|hta|ps1|bat|scr)$)`,
    needs: ["//", "\\\\"],
    targets: ARGUMENTS | COOKIES,
    hits: [
      "\\\\203.0.113.7\\c$\\x",
      "http://evil.example/shell.txt?",
      "http://evil.example/c99.txt",
      "http://203.0.113.7/a.txt",
      "https://evil.example/x.php?",
      "ftp://evil.example/c99.txt?",
    ],
    misses: ["https://example.com/page", "https://example.com/?a=b", "http://a.example/x.php?a=b&c=d"],
  },
  {
    slug: "rfi-address-number",
    title: "A URL with an IP address in an argument",
    pattern: String.raw`^(?:https?|ftp)://\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?:[:/?]|$)`,
    needs: ["://"],
    targets: ARGUMENTS,
    hits: ["http://203.0.113.7/x", "ftp://198.51.100.1/"],
    misses: ["https://example.com/203.0.113.7"],
    paranoia: 2,
  },
];

const UPLOADED: readonly SignatureRow[] = [
  {
    slug: "upload-script",
    title: "Upload of a server-side script",
    pattern: String.raw`\.(?:php\d?|phtml|phar|phps|pht|phpt|pgif|inc|asp|aspx|asa|asax|ascx|ashx|asmx|cer|cdx|jsp|jspx|jspf|jsw|jsv|cfm|cfml|cfc|cgi|pl|shtml|htaccess|htpasswd|user\.ini|war|hta)(?:\.[a-z0-9]{1,4})?(?:;\.?[a-z0-9]{1,8}|::?\$[a-z]{1,10}|/\.?)?[. ;:\x00]{0,5}$|(?:^|/)web\.config[. ;:\x00]{0,5}$`,
    needs: ["."],
    targets: FILES,
    hits: [
      "shell.php",
      "shell.PHP5",
      "x.php.jpg",
      "cmd.jsp",
      "x.asp;.png",
      "x.php::$DATA",
      "x.php/.",
      "a.aspx;.jpg".slice(0, 6),
      ".htaccess",
      "web.config",
      "x.phtml.",
    ],
    misses: ["photo.jpg", "report.final.pdf", "php.png", "a.phrase", "homework.py", "site.config.json"],
  },
  {
    slug: "upload-program",
    title: "Upload of a program",
    pattern: String.raw`\.(?:py|rb|sh|bash|exe|dll|bat|cmd|com|ps1|vbs|scr)(?:\.[a-z0-9]{1,4})?[. ;:\x00]{0,5}$`,
    needs: ["."],
    targets: FILES,
    hits: ["setup.exe", "x.sh", "a.PS1", "x.bat.jpg"],
    misses: ["photo.jpg", "a.shape", "python.pdf"],
    paranoia: 2,
    certainty: "possible",
  },
  {
    slug: "upload-traversal",
    title: "Upload with a path as file name",
    pattern: String.raw`\.\./|^/|^[a-z]:/|%2f`,
    needs: ["/", "%2f"],
    targets: FILES,
    unless: isFakePath,
    hits: ["../x.png", "/etc/x", "c:\\x.png", "..\\..\\x"],
    misses: ["photo.jpg", "a..b.png", "C:\\fakepath\\photo.jpg"],
  },
  {
    slug: "upload-active-picture",
    title: "Upload of a picture that runs: scripts in SVG, commands for converters",
    detect: runsAsPicture,
    needs: ["<svg", "%pipe%", "graphic-context"],
    targets: UPLOADS,
    reading: "lines",
    hits: [
      '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
      '<?xml version="1.0"?><!-- a --><svg><script>alert(1)</script></svg>',
      "push graphic-context\nfill 'url(https://x.example/a\"|id\")'",
      "%!PS\nmark /OutputFile (%pipe%id) currentdevice putdeviceprops",
    ],
    misses: [
      '<svg xmlns="http://www.w3.org/2000/svg"><title>One script</title><path d="M0 0"/></svg>',
      "<html><script>a()</script><svg></svg></html>",
      "%!PS-Adobe-3.0\n%%Title: a",
      "# push graphic-context",
    ],
  },
  {
    slug: "upload-objects",
    title: "Upload of a serialised object that runs code when a program reads it",
    pattern: String.raw`^(?:ro0ab[a-z0-9+/]|\xac\xed\x00?\x05|---\s{0,4}!ruby/object:gem::|(?:[\w ]{0,20}: ?|- ?|---\s{0,4})?!!python/(?:object/(?:apply|new)|name|module):|(?:[\w ]{0,20}: ?|- ?|---\s{0,4})?!!(?:javax\.script\.|com\.sun\.|org\.springframework\.)|c(?:os|posix|nt|subprocess|builtins|__builtin__)\n(?:system|popen|eval|exec|call)\n)|<java [^<>]{0,80}java\.beans\.xmldecoder|<(?:void|object) [^<>]{0,80}class ?= ?["']java\.lang\.(?:runtime|processbuilder)`,
    needs: [
      "ro0ab",
      "\xac\xed",
      "!ruby/object:gem",
      "!!",
      "system",
      "popen",
      "eval",
      "exec",
      "call",
      "java.beans.xmldecoder",
      "java.lang.",
    ],
    targets: UPLOADS,
    reading: "lines",
    hits: [
      "rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcA==",
      '!!python/object/apply:os.system ["id"]',
      "cos\nsystem\n(S'id'\ntR.",
      '<java version="1.8.0" class="java.beans.XMLDecoder"><object/></java>',
    ],
    misses: ["name: !!str a", "# !!python/object/apply", "cosine\n", "public class A { java.lang.Runtime r; }"],
  },
  {
    slug: "upload-code",
    title: "Upload of a file with code of servers at its beginning, or in an image",
    detect: startsServerCode,
    needs: ["<?", "<%", "<script", "<cf"],
    targets: UPLOADS,
    reading: "lines",
    hits: [
      "<?php system($_GET['c']); ?>",
      "GIF89a;<?php eval($_POST[1]);",
      "\x89PNG\r\n\x1a\n\0<?=`$_GET[0]`?>",
      '<%@ page import="java.io.*" %>',
      '<%eval request("x")%>',
    ],
    misses: [
      "# A guide\n\n    <?php echo 1;\n",
      '<?xml version="1.0"?><a/>',
      "<script>x</script>",
      "GIF89a<?xpacket begin?>",
      "PK\x03\x04 a.php<?php",
    ],
  },
];

/** Browsers send this instead of a path. */
function isFakePath(name: string): boolean {
  return /^c:\/fakepath\/[^/]{1,200}$/.test(name);
}

/** Browsers run the scripts of a picture in SVG, and converters of pictures what some of their formats call. */
function runsAsPicture(text: string): boolean {
  charge(text.length * 3);
  if (text.startsWith("%!ps")) return text.includes("%pipe%");
  if (text.startsWith("push graphic-context")) return CALLS.some((call) => text.includes(call));
  const at = text.indexOf("<svg");
  if (at === -1 || at > SVG_HEAD_BYTES || !isDeclared(text.slice(0, at))) return false;
  return text
    .slice(at + 1)
    .split("<")
    .some((tag) => ACTIVE_TAG.test(tag) || HANDLER.test(tag) || SCRIPT_LINK.test(tag));
}

/** Calls by which pictures in the format of ImageMagick fetch and run. */
const CALLS = ["url(", "image over", "ephemeral:", "msl:", "label:@"];
const SVG_HEAD_BYTES = 2048;
const DECLARATIONS_MAX = 32;
const DECLARATIONS: readonly (readonly [begin: string, end: string])[] = [
  ["<?xml", "?>"],
  ["<!--", "-->"],
  ["<!doctype svg", ">"],
  ["<!entity", ">"],
  ["]", ">"],
];

/** Whether only declarations and comments are before the picture; in other documents, text or elements are. */
function isDeclared(text: string): boolean {
  let rest = text.replace(/^\xef\xbb\xbf/, "").trimStart();
  for (let count = 0; rest !== "" && count < DECLARATIONS_MAX; count++) {
    const [begin, end] = DECLARATIONS.find(([mark]) => rest.startsWith(mark)) ?? [];
    if (begin === undefined || end === undefined) return false;
    // The entities of a type are between its name and its end.
    const ends = [rest.indexOf(end, begin.length), begin.endsWith("svg") ? rest.indexOf("[") : -1].filter((at) => at !== -1);
    if (ends.length === 0) return false;
    const at = Math.min(...ends);
    rest = rest.slice(at + (rest[at] === "[" ? 1 : end.length)).trimStart();
  }
  return rest === "";
}

const ACTIVE_TAG = /^(?:script|iframe|embed|object)[\s>/]/;
const HANDLER = /[\s"'/]on[a-z]{3,25}\s?=\s?["'a-z]/;
const SCRIPT_LINK = /(?:href|to|values)\s?=\s?["']\s{0,8}(?:javascript:|data:text\/html)/;

const SERVER_CODE =
  /<\?php\b|<\?= ?(?:[`$@]|system|exec|passthru|shell_exec|eval)|<script language ?= ?["']?php|<%@ ?(?:page|webhandler|webservice|language)\b|<% ?(?:eval|execute) ?[( ]?request|<%[^%]{0,400}(?:getruntime|processbuilder|process\.start|server\.createobject)|<cf(?:execute|script|query)[ >]/;
const HEAD_BYTES = 64;

/** Text that precedes the code is shown to people; in an image nobody sees it. */
function startsServerCode(text: string): boolean {
  charge(text.length);
  const at = text.search(SERVER_CODE);
  return (
    at !== -1 &&
    ((at < HEAD_BYTES && !text.startsWith("pk\x03\x04") && !/[#\n]/.test(text.slice(0, at).trim())) ||
      /^(?:gif8|\x89png|\xff\xd8|%pdf|bm|riff|ii\*)/.test(text))
  );
}

/** A document in somebody's folder, as browsers show its address. */
const PERSONS_FILE =
  // linear: at most 512 bytes (callers cut the text)
  /^file:\/\/\/(?:users|home|c:\/users)\/[\w.-]{1,40}\/(?:desktop|documents|downloads|pictures)\/(?:[\w% -][\w.% -]{0,80}\/){0,6}[\w% -][\w.% -]{0,120}\.(?:txt|pdf|docx?|xlsx?|pptx?|odt|png|jpe?g|html?|md|csv)$/;

/** A sentence about a file of its author: no program opens an address with words behind it. */
function mentionsFile(text: string): boolean {
  if (text.length <= 512 && PERSONS_FILE.test(text)) return true;
  const [before = "", file = "", ...more] = text.slice(0, 512).split("file:///");
  const [path = "", ...words] = file.split(" ");
  return (
    more.length === 0 &&
    /^[a-z ]*$/.test(before) &&
    /^(?:home|users)\/[\w./-]+$/.test(path) &&
    words.slice(0, 2).every((word) => /^[a-z']+$/.test(word)) &&
    words.length > 1 &&
    text.indexOf(":/") === text.lastIndexOf(":/")
  );
}

/** A sentence that directs people to a file, with words before and behind it. */
function directsToFile(text: string): boolean {
  if (/\.\.\/|[;|&`$<>%]/.test(text)) return false;
  // linear: at most 8192 bytes (callers cut the text, and its repetitions are bounded)
  if (/^(?:[a-z',]{1,15} ){1,12}[a-z]:\/[\w./ ]{1,100}(?: [a-z',.]{2,15}){2}/.test(text)) return true;
  // A question ends with the file.
  const words = text.length > 400 ? [] : text.split(" ");
  const file = words.pop() ?? "";
  return /^[a-z]:\/[\w./]{1,100}[.?!]?$/.test(file) && words.length >= 6 && words.every((word) => /^[a-z',?:]{1,15}$/.test(word));
}

/** Repositories have such a file without secrets beside the one that nobody commits. */
function isExample(path: string): boolean {
  return /^[\w./@-]{1,200}\/\.env\.(?:example|sample|dist|template)$/.test(path);
}

/** The address of a directory's entries, as settings have it. */
function isDirectory(text: string): boolean {
  // The server alone, at its usual port: attacks ask it for a name.
  if (/^ldaps?:\/\/[a-z][a-z0-9-]{0,60}(?:\.[a-z][a-z0-9-]{0,60}){1,6}:(?:389|636|3268|3269)\/?$/.test(text)) return true;
  return /^ldaps?:\/\/[a-z][a-z0-9-]{0,60}\.[a-z0-9.-]{1,100}(?::\d{1,5})?\/(?:dc|ou|cn|o)=[a-z0-9,= -]{1,200}$/.test(text);
}

const SENSITIVE =
  /etc\/|proc\/|var\/|\.env|passwd|shadow|windows|win\.ini|\.ini|\.ssh|\.git\/|\.ht|wp-config|boot\.|\.log|id_rsa|web-inf|\x00/;

/** A step upwards in source code, and in sentences about it, leads to another file. */
function isImport(text: string): boolean {
  // Each step upwards is behind the word or the bracket of an import, and leads to a file of the project.
  const imports = text.replace(
    /(?:\bfrom ?|\bimport ?|@import ?|@use ?|\binclude ?|\b(?:require|url|import) ?\( ?|(?:src|href) ?= ?)["']?(?:\.\.\/){1,8}[\w@-][\w@./-]{0,200}/g,
    "",
  );
  if (imports !== text && !imports.includes("../") && !SENSITIVE.test(text)) return true;
  if (/(?:\.{2,4};?\/){3}|etc\/|proc\/|\.env|passwd|windows|\.ini|\.ssh|\.git\/|\.php|[^./] ?\/\.\.\//.test(text)) return false;
  return (
    text.slice(0, text.indexOf("../")).trimStart().includes(" ") ||
    /^\.\.\/\.\.\/[\w@/-]{1,200}\.(?:[jt]sx?|vue|svelte|s?css|less|map)$/.test(text)
  );
}

export const FILE_INCLUSION: readonly Signature[] = signaturesOf("lfi", INCLUSION, "path");
export const REQUEST_FORGERY: readonly Signature[] = signaturesOf("rfi-ssrf", REQUESTS);
export const FILE_UPLOADS: readonly Signature[] = signaturesOf("upload", UPLOADED, "path");
