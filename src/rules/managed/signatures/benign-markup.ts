/** Markup that people send because it is their work: what rows for scripts in pages do not speak of. */

/** Components of JSX name functions where pages have handlers: every one of a text does. */
export function isJsx(text: string): boolean {
  const handlers = text.match(/[ /"'`]on[a-z]{3,25} ?= ?.{0,40}/gs) ?? [];
  return handlers.every((handler) => /= ?\{ ?(?:\( ?\)? ?(?:=>|[a-z_, ]{0,30}\) ?=>)|async \(|[a-z_.$]{1,30} ?(?:\}|=>))/.test(handler));
}

const ACTIVE =
  /<(?:iframe|frame|frameset|object|embed|applet|base|meta|isindex|xml|xss|layer|ilayer|bgsound|portal|foreignobject|animate|set|animatetransform|animatemotion)[ /]/;

/** Films and maps are embedded by frames whose address is in quotes and leads to another server; documents name their character set. */
export function isEmbedding(text: string): boolean {
  const rest = text
    .replace(/<(?:iframe|embed) [^<>]{0,1000}>/g, (tag) => (isFrame(tag) ? "" : tag))
    .replace(/<meta [^<>]{0,1000}>/g, (tag) =>
      /http-equiv ?= ?["']?(?:refresh|set-cookie|link)|(?:javascript|data|vbscript) ?:/.test(tag) ? tag : "",
    );
  return !ACTIVE.test(rest);
}

const isFrame = (tag: string): boolean =>
  / src ?= ?["'](?:https?:)?\/\/[a-z0-9]/.test(tag) &&
  !/srcdoc|[ /"']on[a-z]{3,25} ?=|(?:javascript|data|vbscript) ?:|["'][^ "'=<>]{0,200}\.js["']/.test(tag);
