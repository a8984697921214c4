/** Markup that people send in their work, which rows for scripts in pages exclude. */

/** JSX components pass functions where pages have handlers, and then all handlers of a text are functions. */
export function isJsx(text: string): boolean {
  const handlers = text.match(/[ /"'`]on[a-z]{3,25} ?= ?.{0,40}/gs) ?? [];
  return handlers.every((handler) =>
    /= ?(?:""|''|["'] ?return false;? ?["']|["'] ?["'])|= ?\{ ?(?:\( ?\)? ?(?:=>|[a-z_, ]{0,30}\) ?=>)|async \(|[a-z_.$]{1,30} ?(?:\}|=>))/.test(
      handler,
    ),
  );
}

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

/** A sentence of plain words about the element. */
export function namesElement(text: string): boolean {
  const parts = text.slice(0, 512).split(/<\/?script>/, 3);
  return (
    parts.length === 2 &&
    text.length <= 512 &&
    parts.every((part) => /^[a-z', ?.-]+$/.test(part) && /[a-z]{2}/.test(part)) &&
    parts[1]!.startsWith(" ")
  );
}

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
  return EMBEDS.test(src) && content.trim() === "";
};

/** Without the quoted values of attributes. */
const withoutTexts = (text: string): string =>
  text
    .split('="')
    .map((piece, place) => (place === 0 ? piece : piece.slice(piece.indexOf('"') + 1)))
    .join("=");

const EMBEDS =
  /^(?:https?:)?\/\/(?:platform\.(?:twitter|x|instagram)\.com|www\.instagram\.com|www\.tiktok\.com|embed\.reddit\.com|assets\.pinterest\.com|connect\.facebook\.net|player\.vimeo\.com|w\.soundcloud\.com|open\.spotify\.com|gist\.github\.com|embedr\.flickr\.com|cdn\.embedly\.com|embed\.bsky\.app|www\.googletagmanager\.com|www\.google\.com\/recaptcha|assets\.calendly\.com|embed\.typeform\.com|js\.hsforms\.net|www\.youtube\.com|speakerdeck\.com|www\.redditstatic\.com|s\.imgur\.com|static\.codepen\.io|cpwebassets\.codepen\.io|telegram\.org)\/[^\s"'<>]*$/;

const isFrame = (tag: string): boolean =>
  / src ?= ?["'](?:https?:)?\/\/[a-z0-9]/.test(tag) &&
  !/srcdoc|[ /"']on[a-z]{3,25} ?=|(?:javascript|data|vbscript) ?:|["'][^ "'=<>]{0,200}\.js["']/.test(tag);
