import { isAscii, isUtf8 } from "node:buffer";
import { generate, parse } from "css-tree";
import { type MinifierOptions, minify as minifyPage } from "html-minifier-next";
import { minify as minifyCode } from "terser";

/** The parts of a page that are minified besides its own white space. */
export interface MinifyTask {
  readonly kind: "html" | "css" | "js";
  /** For pages: their style sheets and scripts too. */
  readonly css: boolean;
  readonly js: boolean;
}

/**
 * The body without white space and comments that mean nothing; names and structure stay. Throws for a body that cannot be
 * read. All three libraries are JavaScript: a native one would end the process where a body is nested too deeply.
 */
export async function minifyBody({ kind, css, js }: MinifyTask, body: Buffer): Promise<Buffer> {
  if (!isAscii(body) && !isUtf8(body)) throw new Error("the body is not in UTF-8");
  const text = body.toString("utf8");
  if (kind === "css") return Buffer.from(minifyCss(text));
  if (kind === "js") return Buffer.from(await minifyJs(text));
  const page = await minifyPage(text, {
    ...PAGE_OPTIONS,
    // A part that cannot be read stays as it is.
    minifyCSS: css && ((part: string, type?: string) => (type === undefined || type === "" ? orSame(part, minifyCss) : part)),
    minifyJS: js && ((part: string, isAttribute?: boolean) => (isAttribute === true ? part : minifyJs(part).catch(() => part))),
  });
  return Buffer.from(page);
}

const PAGE_OPTIONS: MinifierOptions = {
  caseSensitive: true,
  collapseWhitespace: true,
  // One space stays, because it may be visible between words.
  conservativeCollapse: true,
  decodeEntities: false,
  ignoreCustomComments: [/^\s*\/?(?:sse|esi|ko|#|!|\[if)/],
  keepClosingSlash: true,
  preventAttributesEscaping: true,
  removeComments: true,
};

function minifyCss(text: string): string {
  let fault: Error | undefined;
  const tree = parse(text, {
    parseCustomProperty: false,
    onParseError: (error) => {
      fault ??= error;
    },
  });
  if (fault !== undefined) throw fault;
  return generate(tree);
}

async function minifyJs(text: string): Promise<string> {
  const { code } = await minifyCode(text, { compress: false, mangle: false, format: { comments: "some" } });
  if (code === undefined) throw new Error("the script was not read");
  return code;
}

function orSame(text: string, change: (text: string) => string): string {
  try {
    return change(text);
  } catch {
    return text;
  }
}
