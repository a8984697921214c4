/** `value` is the object as the API returns it, without id and times, as JSON. */
interface SensitiveDataColumns {
  id: string;
  /** `allowed` or `pattern`. */
  kind: string;
  value: string;
  created_on: string;
  modified_on: string;
}

export interface SensitiveDataObjectsTable extends SensitiveDataColumns {
  zone_id: string;
}

export interface AccountSensitiveDataObjectsTable extends SensitiveDataColumns {
  account_id: string;
}

export interface PageResourcesTable {
  zone_id: string;
  id: string;
  kind: "script" | "connection" | "cookie";
  /** The URL, or the name of a cookie. */
  name: string;
  host: string;
  first_page_url: string;
  /** JSON: the most recent pages, the newest first. */
  page_urls: string;
  /** JSON: `CookieAttributes`; empty object for others. */
  attributes: string;
  /** JSON: contents of a script, the newest first: hash and time of the fetch. */
  versions: string;
  first_seen_at: string;
  last_seen_at: string;
  /** When control fetches the script next, in Unix milliseconds; null for others. */
  fetch_due_ms: number | null;
  /** News that no alert has reported yet: `new` or `changed`. */
  untold: "new" | "changed" | null;
}
