/** Markup, programs and texts about them that people send in their work, which rows for injected scripts and code exclude. */

/** JSX components pass functions where pages have handlers, and then all handlers of a text are functions. */
export const isJsx = (text: string): boolean => !OTHER_HANDLER.test(text);

/** Nothing may follow the bracket that ends a function, since HTML would read it as more of the script. */
const OTHER_HANDLER =
  /[ /"'`]on[a-z]{3,25} ?=(?! ?(?:""|''|["'] ?return false;? ?["']|["'] ["']|" ?(?:this\.onerror ?= ?null ?; ?)?this\.(?:style\.display ?= ?'none'|src ?= ?'(?:https?:\/)?\/[\w./:-]{1,200}') ?;? ?"|" ?(?:window\.print|history\.back)\(\) ?;? ?")(?:[ />]|$)| ?\{ ?(?:async )?(?:\([a-z_, {}[\]:]{0,60}\)|[a-z_$]{1,30}) ?=>| ?\{ ?[a-z_.$]{1,30} ?\}(?:[ >]|\/>|$)| ?\{ ?[a-z_.$]{0,30}$)/;

const ACTIVE =
  /<(?:iframe|frame|frameset|object|embed|applet|base|meta|isindex|xml|xss|layer|ilayer|bgsound|portal|foreignobject|animate|set|animatetransform|animatemotion)[ /]/;

/** Videos and maps are embedded by frames with a quoted URL of another server; documents name their character set. */
export function isEmbedding(text: string): boolean {
  const rest = text
    .replace(/<object [^<>]{0,1000}>/g, (tag) => (DOCUMENT.test(tag) && !/[ /"']on[a-z]{3,25} ?=|classid|codebase/.test(tag) ? "" : tag))
    .replace(/<(?:iframe|embed) [^<>]{0,1000}>/g, (tag) => (isFrame(tag) ? "" : tag))
    .replace(/<meta [^<>]{0,1000}>/g, (tag) =>
      /http-equiv ?= ?["']?(?:refresh|set-cookie|link)|(?:javascript|data|vbscript) ?:/.test(tag) ? tag : "",
    );
  return !ACTIVE.test(rest);
}

/** A document, a picture or a film of the same site or another server. */
const DOCUMENT = / data ?= ?["'](?:https?:\/\/|\/[^/]|[a-z0-9])[^"' :]{1,300}\.(?:pdf|png|jpe?g|gif|webp|mp4|webm|mp3)["']/;

/** A text that names the element: plain words behind each of its tags are not a script that a browser can run. */
export function namesElement(text: string): boolean {
  const parts = text.slice(0, NAMING_BYTES_MAX).split("<script>", SCRIPTS_MAX + 2);
  return (
    text.length <= NAMING_BYTES_MAX &&
    parts.length > 1 &&
    parts.length <= SCRIPTS_MAX + 1 &&
    !parts[0]!.includes("<script") &&
    !/["'] ?\/?> ?$/.test(parts[0]!) &&
    parts.slice(1).every((part) => /^ [a-z]{2,20} [a-z]{2,20}[a-z', .?;-]*(?:$|<(?!script))/.test(part) && !part.includes("<script"))
  );
}

const NAMING_BYTES_MAX = 2048;

/** Elements of scripts that only hold data, or that posts embed from services of which visitors control no script. */
export function isKnownScript(text: string): boolean {
  const pieces = text.split("<script", SCRIPTS_MAX + 2);
  if (pieces.length > SCRIPTS_MAX + 1) return false;
  const others: string[] = [pieces[0]!];
  for (const piece of pieces.slice(1)) {
    const end = piece.indexOf("</script>");
    const mark = piece.indexOf(">");
    if (end === -1 || mark > end || !isHarmless(piece.slice(0, mark), piece.slice(mark + 1, end))) return false;
    others.push(piece.slice(end + "</script>".length));
  }
  return (
    pieces.length > 1 &&
    others.every(
      (other) => !/script|["'] ?\/?> ?<[a-z/]{0,12}[ />]?$|<\/(?:textarea|title|style|noscript|template)/.test(withoutTexts(other)),
    )
  );
}

const SCRIPTS_MAX = 8;

const isHarmless = (head: string, content: string): boolean => {
  if (/^ type="application\/(?:ld\+)?json"$/.test(head)) return !content.includes("<");
  const rest = head.replace(/ (?:async|defer|charset)(?:="(?:utf-8|async|true)?")?(?= |$)/g, "").trim();
  const src = rest.startsWith('src="') && rest.endsWith('"') ? rest.slice('src="'.length, -1) : "";
  return src.length <= URL_BYTES_MAX && EMBEDS.test(src) && !/\.\.|callback|jsonp|cb=/.test(src) && content.trim() === "";
};

/** Without the quoted values of attributes. */
const withoutTexts = (text: string): string =>
  text
    .split('="')
    .map((piece, place) => (place === 0 ? piece : piece.slice(piece.indexOf('"') + 1)))
    .join("=");

const URL_BYTES_MAX = 512;
const EMBEDS =
  // linear: at most 512 bytes (longer URLs are not tested)
  /^(?:https?:)?\/\/(?:platform\.(?:twitter|x|instagram)\.com|www\.instagram\.com|www\.tiktok\.com|embed\.reddit\.com|assets\.pinterest\.com|connect\.facebook\.net|player\.vimeo\.com|w\.soundcloud\.com|open\.spotify\.com|gist\.github\.com|embedr\.flickr\.com|cdn\.embedly\.com|embed\.bsky\.app|assets\.calendly\.com|embed\.typeform\.com|js\.hsforms\.net|speakerdeck\.com|www\.redditstatic\.com|s\.imgur\.com|static\.codepen\.io|cpwebassets\.codepen\.io|telegram\.org|www\.google\.com\/recaptcha)\/[\w./@-]*(?:\?[\w=&.-]*)?$|^(?:https?:)?\/\/www\.(?:youtube\.com\/(?:iframe|player)_api|googletagmanager\.com\/gtag\/js\?id=(?:g|ua|aw|dc)-[\w-]{1,30})$/;

const isFrame = (tag: string): boolean =>
  / src ?= ?\\{0,4}["'](?:https?:)?\/\/[a-z0-9]/.test(tag) &&
  !/srcdoc|[ /"']on[a-z]{3,25} ?=|(?:javascript|data|vbscript) ?:|["'][^ "'=<>]{0,200}\.js["']/.test(tag);

/** A sentence about programs starts with words. */
function startsWithWords(text: string): boolean {
  return /^[a-z']{1,20},? [a-z']{2,20} [`'a-z]{1,20}[ ,.?!(`]/.test(text) && !/[{}$<>;]/.test(text);
}

/** A post that shows a program, or a report about an error in one. */
export function tellsOfPython(text: string): boolean {
  return startsWithWords(text) || (/^\s{0,8}traceback \(most recent call last\)/.test(text) && !/\{\{|\{%|\$\{|#\{/.test(text));
}

/** Programs in C end with such a call. */
export function isIdiomOfC(text: string): boolean {
  return /^ ?system ?\( ?["'](?:pause|cls|clear)["'] ?\) ?;?(?: ?return [01]?;)?[ }]{0,8}$/.test(text);
}

/** A question that names variables, without a call. */
export function asksAboutPhp(text: string): boolean {
  return (
    /^[a-z]{2,12} [a-z']{1,12} [^<>{}]{1,400}$/.test(text) &&
    !/\b(?:eval|system|assert|exec|passthru|include|require|unserialize) ?\(/.test(text)
  );
}

/** A question about the member that all objects have, between words. */
export function namesMember(text: string): boolean {
  return (
    /^(?:\/[a-z]{1,20}\/)?(?:[a-z']{1,20},? ){2,12}__proto__(?:,? [a-z']{1,20}){1,12}[.?!]?$/.test(text.slice(0, 1024)) &&
    text.length < 1024
  );
}

/** Some interfaces name the filters of a list in this way. */
export function isFilterName(name: string): boolean {
  return /^\/?(?:filters?|where|query|sort|fields|populate)(?:\[|\.)/.test(name) && !/\$(?:where|function|expr|regex)/.test(name);
}

/** A query in the language of the database's console. */
export function asksDatabase(text: string): boolean {
  return (
    isProgram(text) ||
    (/^\s{0,8}db\.[a-z_]{1,40}\.(?:find|aggregate|count|countdocuments|distinct)\((?:\{ ?[a-z_"']|\[|["'])/.test(text) &&
      !/\$(?:where|function)|["'];|;\s{0,8}[a-z]/.test(text))
  );
}

/** A query of GraphQL may name a variable like an operator of a database: `query x($where: filter!) { list(where: $where) { id } }`. */
export function declaresWhere(text: string, isFound: (rest: string) => boolean): boolean {
  if (text.length > TRACE_BYTES_MAX || !/^\s{0,20}(?:query|mutation|subscription)\b[^({]{0,80}\(/.test(text.slice(0, 200))) return false;
  const rest = text.replace(/\$where(?= ?: ?\[?[a-z_]\w{0,80}[!\] ,)=])|: ?\$where(?=[ ,)}\]])/g, "");
  return rest !== text && !isFound(rest);
}

/** A whole filter of a directory, as its administrators write it: entries of a class, or members of a group. */
export function isDirectoryFilter(given: string): boolean {
  const text = given.trim();
  if (text.length > 1024 || !/^\(.{1,1000}\)$/s.test(text)) return false;
  if (/^\(memberof=cn=[\w .,=-]{1,200}\)$/.test(text)) return true;
  if (!/\((?:objectclass|objectcategory)=[a-z]/.test(text) || /\)\s{0,8}[^\s()]|[^\s()]\(|\x00|\(\)/.test(text.replace(/\([&|!]/g, "(")))
    return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")" && --depth <= 0 && at < text.length - 1) return false;
  }
  return depth === 0;
}

/** A sentence with a whole filter in it; what breaks out of a filter has a bracket without its partner. */
export function quotesFilter(text: string): boolean {
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
  return /^\s{0,20}(?:var|let|const|if ?\(|import|export|class|async) ?[\w({*]/.test(text.slice(0, 200)) && !/\$where|this\./.test(text);
}

/** A part within a part has its own head. */
export function isNestedPart(text: string): boolean {
  return NESTED_HEAD.test(text) && text.trimEnd().endsWith("--");
}

const NESTED_HEAD =
  // linear: at most 1024 bytes (the beginnings of values)
  /^--[\w'()+,./:=?-]{1,70}\r?\n(?:content-(?:disposition|type|transfer-encoding|id):[^\r\n]{1,400}\r?\n){1,6}\r?\n/;

const TRACE_BYTES_MAX = 65_536;

/** The name of an error before its message. */
const ERROR_NAME =
  // linear: at most 1024 bytes (callers cut the text)
  /^(?:caused by: |exception in thread "[^"]{1,80}" )?(?:[\w$]{1,60}\.){1,12}[\w$]{0,60}(?:exception|error): /;

/** Stack traces contain class names with line numbers. */
export function isStackTrace(text: string): boolean {
  return (
    text.length <= TRACE_BYTES_MAX &&
    (ERROR_NAME.test(text.slice(0, 1024)) ||
      /(?:\bat |["']module["']: ?["'])[\w.$/]{3,200}(?:\([\w.]{1,80}(?::\d{1,6})?\)|["'])/.test(text)) &&
    !/getruntime|processbuilder\(|\.exec\(|classloader/.test(text)
  );
}

/** A stack trace of at most TRACE_BYTES_MAX without the places and the errors that it names. */
export function withoutFrames(text: string): string {
  return text
    .replace(/\bat [\w.$/<>]{3,200}\([^()]{1,120}\)|["']module["']: ?["'][^"']{1,200}["']/g, "")
    .replace(/[\w.$]+/g, (name) => (/(?:exception|error)$/.test(name) ? "" : name));
}

/** Whether nothing is left that `isFound` finds without the document type of a known publisher. */
export function hasKnownType(text: string, isFound: (rest: string) => boolean): boolean {
  if (text.length > TRACE_BYTES_MAX) return false;
  const rest = text.replace(KNOWN_TYPE, "<!doctype ");
  return rest !== text && !isFound(rest);
}

/** The address of a type where its publisher keeps it: parsers of documents fetch nothing that a visitor chose. */
const KNOWN_TYPE =
  // linear: at most 65536 bytes (callers cut the text, and its repetitions are bounded)
  /<!doctype [\w:.-]{1,60} (?:public ?["'][^"'<>]{0,120}["'] ?|system ?)["']https?:\/\/(?:[a-z]{1,12}\.)?(?:w3\.org|sun\.com|oracle\.com|oasis-open\.org|docbook\.org|apache\.org|hibernate\.org|jboss\.org|eclipse\.org|springframework\.org|mybatis\.org|checkstyle\.org|puppycrawl\.com|apple\.com|freedesktop\.org|gnome\.org|wapforum\.org|openmobilealliance\.org|omg\.org|netbeans\.org|opensymphony\.com|quartz-scheduler\.org|nlm\.nih\.gov|musicxml\.org|netscape\.com|rssboard\.org|adobe\.com|mozilla\.org)\/[\w./~+-]{1,200}["']/g;

/** Documents of public types start with this. */
export function isPublicType(text: string): boolean {
  const begin = text.slice(0, 8192);
  return (
    PUBLIC_TYPE.test(begin) &&
    text.indexOf("<!doctype") === text.lastIndexOf("<!doctype") &&
    !/<!entity|<!\[cdata\[ ?<|<xi:|<xsl:/.test(text)
  );
}

/** The public name alone, or with an address at its author's. */
const PUBLIC_TYPE =
  // linear: at most 8192 bytes (longer texts are cut)
  /<!doctype (?:html|svg|math|plist|wml) public ["']-\/\/(?:w3c|apple|wapforum|ietf)\/\/[^"'<>]{1,80}["'] ?(?:["']https?:\/\/(?:www\.)?(?:w3\.org|apple\.com|wapforum\.org)\/[^"'<>]{1,200}["'] ?)?>|<!doctype html public ?>/;

/**
 * Values that only report what another program logged, asked a database or was sent: exporters of OpenTelemetry, Loki's and Sentry's clients
 * and browsers send them, and only the collector of that protocol knows their names.
 */
export const isReported = (part: string, name: string): boolean => part === "http.request.body.raw" && REPORTED.test(name);

const REPORTED =
  /^(?:resource(?:Logs|Spans|Metrics)\.(?:resource|scope(?:Logs|Spans|Metrics))\.[\w.]{0,120}[vV]alue|streams\.(?:values|stream\.\w{1,60})|exception\.values\.(?:value|stacktrace\.frames\.\w{1,40})|breadcrumbs\.(?:values\.)?(?:message|data\.\w{1,40})|contexts\.trace\.data\.db\.\w{1,40}|csp-report\.(?:document-uri|blocked-uri|referrer|source-file|script-sample|original-policy))$/;
