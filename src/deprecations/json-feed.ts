import type { FeedHead, FeedItem } from "./feed-item.ts";

/**
 * The feed in the JSON Feed format (https://www.jsonfeed.org/version/1.1/). `_selvedge.date` is the day on which the row
 * takes effect.
 */
export const jsonFeed = ({ title, url, home }: FeedHead, items: readonly FeedItem[]): string =>
  JSON.stringify({
    version: "https://jsonfeed.org/version/1.1",
    title,
    home_page_url: home,
    feed_url: url,
    language: "en",
    authors: [{ name: "Selvedge" }],
    items: items.map((item) => ({
      id: `urn:uuid:${item.uuid}`,
      url: item.url,
      title: item.title,
      content_text: item.text,
      date_published: `${item.added}T00:00:00Z`,
      tags: [item.id],
      _selvedge: { date: item.date },
    })),
  });
