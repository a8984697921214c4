/** Markup that people send in their work, which rows for scripts in pages exclude. */

/** JSX components pass functions where pages have handlers, and then all handlers of a text are functions. */
export function isJsx(text: string): boolean {
  const handlers = text.match(/[ /"'`]on[a-z]{3,25} ?= ?.{0,40}/gs) ?? [];
  return handlers.every((handler) => /= ?\{ ?(?:\( ?\)? ?(?:=>|[a-z_, ]{0,30}\) ?=>)|async \(|[a-z_.$]{1,30} ?(?:\}|=>))/.test(handler));
}

const ACTIVE =
  /<(?:iframe|frame|frameset|object|embed|applet|base|meta|isindex|xml|xss|layer|ilayer|bgsound|portal|foreignobject|animate|set|animatetransform|animatemotion)[ /]/;

/** Videos and maps are embedded by frames with a quoted URL of another server; documents name their character set. */
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
