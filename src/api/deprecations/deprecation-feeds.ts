import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { atomFeed } from "#deprecations/atom-feed.ts";
import { calendar } from "#deprecations/calendar.ts";
import type { Deprecation } from "#deprecations/deprecation.ts";
import { type FeedHead, type FeedItem, feedItems } from "#deprecations/feed-item.ts";
import { jsonFeed } from "#deprecations/json-feed.ts";

interface FeedFormat {
  /** Path relative to the table's address. */
  readonly file: string;
  readonly type: string;
  readonly write: (head: FeedHead, items: readonly FeedItem[]) => string;
}

const FORMATS: readonly FeedFormat[] = [
  { file: "feed.atom", type: "application/atom+xml; charset=utf-8", write: atomFeed },
  { file: "feed.json", type: "application/feed+json; charset=utf-8", write: jsonFeed },
  { file: "calendar.ics", type: "text/calendar; charset=utf-8", write: calendar },
];

const TITLE = "Selvedge API: deprecations";
const SECONDS_FRESH = 3600;

/** The table of deprecations for feed readers and calendars. It is public and cacheable, so it does not depend on the caller. */
export function addDeprecationFeeds(app: FastifyInstance, tablePath: string, table: readonly Deprecation[]): void {
  const etag = `"${createHash("sha256").update(JSON.stringify(table)).digest("base64url").slice(0, 22)}"`;
  for (const { file, type, write } of FORMATS)
    app.get(`${tablePath}/${file}`, async (request, reply) => {
      const home = addressOf(request, tablePath);
      reply.removeHeader("pragma").removeHeader("expires").removeHeader("vary");
      reply.headers({ "cache-control": `public, max-age=${SECONDS_FRESH}`, etag });
      return knows(request, etag)
        ? reply.code(304).send()
        : send(reply, type, write({ title: TITLE, url: `${home}/${file}`, home }, feedItems(table, home)));
    });
}

const send = (reply: FastifyReply, type: string, text: string): FastifyReply => reply.type(type).send(text);

/** With the host name from the client's request; the host was checked before (server.ts). */
const addressOf = ({ protocol, headers }: FastifyRequest, path: string): string => `${protocol}://${headers.host ?? "localhost"}${path}`;

/** RFC 9110 §13.1.2. */
const knows = ({ headers }: FastifyRequest, etag: string): boolean =>
  (headers["if-none-match"] ?? "").split(",").some((one) => [etag, `W/${etag}`, "*"].includes(one.trim()));
