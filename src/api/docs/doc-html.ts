import { posix } from "node:path";
import { Marked, type Tokens } from "marked";
import { escapeHtml } from "#kernel/escape-html.ts";
import { anchorOf } from "./anchor.ts";
import type { Doc } from "./doc-files.ts";
import { plainText } from "./plain-text.ts";

/**
 * A document's Markdown as HTML. Documents are the package's own, so HTML in them is kept. Links to documents that are
 * `isServed` become links below `base`; links to other files of the repository are reduced to their text.
 */
export function docHtml({ folder, markdown }: Doc, isServed: (path: string) => boolean, base: string): string {
  const anchors = new Map<string, number>();
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading(token: Tokens.Heading): string {
        const { tokens, depth } = token;
        const name = anchorOf(plainText(token));
        const count = anchors.get(name) ?? 0;
        anchors.set(name, count + 1);
        return `<h${depth} id="${count === 0 ? name : `${name}-${count}`}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      table(token: Tokens.Table): string | false {
        // Wide tables scroll separately on a phone.
        const cells = (row: readonly Tokens.TableCell[], tag: "td" | "th"): string =>
          `<tr>${row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join("")}</tr>`;
        const body = token.rows.map((row) => cells(row, "td")).join("\n");
        return `<div class="wide"><table><thead>${cells(token.header, "th")}</thead><tbody>${body}</tbody></table></div>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const text = this.parser.parseInline(tokens);
        const target = linkTarget(href, folder, isServed, base);
        return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
      },
    },
  });
  return marked.parse(markdown, { async: false });
}

function linkTarget(href: string, folder: string, isServed: (path: string) => boolean, base: string): string | undefined {
  if (href.startsWith("https:") || href.startsWith("http:") || href.startsWith("#")) return href;
  const [file = "", anchor] = href.split("#");
  const path = withoutEnding(withoutEnding(posix.resolve(folder, file), ".md"), "/README");
  return isServed(path) ? `${base}${path}${anchor === undefined ? "" : `#${anchor}`}` : undefined;
}

const withoutEnding = (text: string, ending: string): string => (text.endsWith(ending) ? text.slice(0, -ending.length) : text);
