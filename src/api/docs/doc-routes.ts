import type { FastifyInstance, FastifyReply } from "fastify";
import { PlatformError } from "#kernel/errors/errors.ts";
import { type Doc, readDocs } from "./doc-files.ts";
import { docIndex, docLayout, DOCS_PATH, searchResults, STYLE, STYLE_PATH } from "./doc-layout.ts";
import type { Hit } from "./doc-search.ts";

/** No script and no external content: the documentation is text, a style sheet and a form. */
const POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

interface Library {
  readonly docs: ReadonlyMap<string, Doc>;
  search(query: string): readonly Hit[];
  /** The document as a page, rendered once. */
  page(doc: Doc): string;
}

/** Serves the package's documentation at `/docs` to everyone, with a page for each error code. While `isOpen` returns false, it answers 404. */
export function addDocs(app: FastifyInstance, root: string, isOpen: () => boolean): void {
  let loading: Promise<Library> | undefined;
  const library = (): Promise<Library> => {
    if (!isOpen()) throw new PlatformError("no_route");
    // A failed read, for example for lack of file descriptors, is tried again by the next request.
    return (loading ??= createLibrary(root).catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
  };
  app.get(DOCS_PATH, async (_request, reply) => send(reply, docLayout("Documentation", docIndex((await library()).docs))));
  app.get(STYLE_PATH, async (_request, reply) => send(reply, STYLE, "text/css; charset=utf-8"));
  app.get<{ Querystring: { q?: unknown } }>(`${DOCS_PATH}/search`, async ({ query: { q } }, reply) => {
    const { search } = await library();
    const query = typeof q === "string" ? q : "";
    return send(reply, docLayout("Search", searchResults(query, search(query)), query));
  });
  app.get<{ Params: { "*": string } }>(`${DOCS_PATH}/*`, async ({ params }, reply) => {
    const { docs, page } = await library();
    const doc = docs.get(`/${params["*"]}`);
    if (doc === undefined) throw new PlatformError("no_route");
    return send(reply, page(doc));
  });
}

async function createLibrary(root: string): Promise<Library> {
  const docs = await readDocs(root);
  // Most servers are never asked for a page, so the Markdown parser is not loaded at the start.
  const { docHtml } = await import("./doc-html.ts");
  const { createDocSearch } = await import("./doc-search.ts");
  const pages = new Map<Doc, string>();
  let search: Library["search"] | undefined;
  return {
    docs,
    search: (query) => (search ??= createDocSearch(docs.values()))(query),
    page: (doc) => {
      let page = pages.get(doc);
      if (page === undefined) {
        page = docLayout(
          doc.title,
          docHtml(doc, (path) => docs.has(path), DOCS_PATH),
        );
        pages.set(doc, page);
      }
      return page;
    },
  };
}

function send(reply: FastifyReply, body: string, type = "text/html; charset=utf-8"): FastifyReply {
  for (const header of ["pragma", "expires", "x-frame-options"]) reply.removeHeader(header);
  return reply.header("content-security-policy", POLICY).header("cache-control", "no-cache").type(type).send(body);
}
