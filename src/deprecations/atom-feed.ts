import { escapeHtml } from "#kernel/escape-html.ts";
import type { FeedHead, FeedItem } from "./feed-item.ts";
import { uuidOf } from "./feed-item.ts";

/** The feed in the Atom format (RFC 4287). */
export const atomFeed = ({ title, url, home }: FeedHead, items: readonly FeedItem[]): string =>
  `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <title>${escapeHtml(title)}</title>
  <id>urn:uuid:${uuidOf("feed")}</id>
  <link rel="self" type="application/atom+xml" href="${escapeHtml(url)}"/>
  <link rel="alternate" type="application/json" href="${escapeHtml(home)}"/>
  <author><name>Selvedge</name></author>
  <updated>${instant(items[0]?.added ?? "1970-01-01")}</updated>
${items.map(entry).join("\n")}
</feed>
`;

const entry = ({ uuid, url, title, text, added, id }: FeedItem): string => `  <entry>
    <title>${escapeHtml(title)}</title>
    <id>urn:uuid:${uuid}</id>
    <link rel="alternate" type="application/json" href="${escapeHtml(url)}"/>
    <category term="${escapeHtml(id)}"/>
    <published>${instant(added)}</published>
    <updated>${instant(added)}</updated>
    <content type="text">${escapeHtml(text)}</content>
  </entry>`;

const instant = (day: string): string => `${day}T00:00:00Z`;
