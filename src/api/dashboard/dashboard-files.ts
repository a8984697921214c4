import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

/** The dashboard's built files, which are read at the first request for a page. */
export interface DashboardFiles {
  /** Answers with a file or, if a browser requests a page, with the page; undefined for other requests. */
  answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined>;
}

interface StaticFile {
  readonly bytes: Buffer;
  readonly type: string;
  readonly etag: string;
  /** Made at first use and kept. */
  readonly encoded: Map<Encoding, Promise<Buffer>>;
}

/**
 * Only this server's own files, and no text that becomes a script: the dashboard shows text from visitors and providers
 * (dashboard.md §2).
 */
const POLICY = [
  "default-src 'none'",
  ...["script-src", "style-src", "img-src", "font-src", "connect-src", "form-action"].map((name) => `${name} 'self'`),
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
  ".md": "text/markdown; charset=utf-8",
};
const COMPRESSED: ReadonlySet<string> = new Set([".html", ".js", ".css", ".svg", ".md"]);
const PAGE = "/index.html";

type Encoding = "br" | "gzip";
const ENCODERS: Readonly<Record<Encoding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
};

export function createDashboardFiles(folder: string): DashboardFiles {
  let loading: Promise<ReadonlyMap<string, StaticFile>> | undefined;
  const files = (): Promise<ReadonlyMap<string, StaticFile>> => (loading ??= readAll(folder));

  return {
    answer: async (request, reply) => {
      if (request.method !== "GET" && request.method !== "HEAD") return undefined;
      const path = request.url.split("?", 1)[0] ?? "/";
      const known = await files();
      const wantsPage = (request.headers.accept ?? "").includes("text/html");
      const name = known.has(path) && path !== PAGE ? path : wantsPage && !path.startsWith("/assets/") ? PAGE : undefined;
      const file = name === undefined ? undefined : known.get(name);
      if (name === undefined || file === undefined) return undefined;
      for (const header of ["pragma", "expires", "x-frame-options"]) reply.removeHeader(header);
      reply
        .header("content-security-policy", POLICY)
        .header("cross-origin-opener-policy", "same-origin")
        .header("cross-origin-resource-policy", "same-origin")
        // Names of assets contain a hash of their content.
        .header("cache-control", name.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache")
        .header("vary", "Accept-Encoding")
        .header("etag", file.etag);
      if (request.headers["if-none-match"] === file.etag) return reply.code(304).send();
      const encoding = COMPRESSED.has(extname(name)) ? accepted(request.headers["accept-encoding"]) : undefined;
      if (encoding !== undefined) reply.header("content-encoding", encoding);
      return reply
        .code(200)
        .type(file.type)
        .send(encoding === undefined ? file.bytes : await encode(file, encoding));
    },
  };
}

async function encode(file: StaticFile, encoding: Encoding): Promise<Buffer> {
  const known = file.encoded.get(encoding);
  if (known) return known;
  const making = ENCODERS[encoding](file.bytes);
  file.encoded.set(encoding, making);
  return making;
}

async function readAll(folder: string): Promise<ReadonlyMap<string, StaticFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries
    .filter((entry) => entry.isFile() && extname(entry.name) in TYPES)
    .map((entry) => join(entry.parentPath, entry.name));
  const files = await Promise.all(
    paths.map(async (path) => {
      const bytes = await readFile(path);
      const type = TYPES[extname(path)] ?? "application/octet-stream";
      const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
      return [`/${relative(folder, path).split(sep).join("/")}`, { bytes, type, etag, encoded: new Map() }] as const;
    }),
  );
  return new Map(files);
}

/** Brotli if the browser accepts it, which it does over TLS and on loopback. */
function accepted(field: string | string[] | undefined): Encoding | undefined {
  const names = String(field ?? "")
    .split(",")
    .map((part) => part.trim().split(";", 1)[0]);
  return names.includes("br") ? "br" : names.includes("gzip") ? "gzip" : undefined;
}
