/** How the cache had to do with a response, in the field's own words. */
export type CacheStatus =
  /** From the cache, fresh. */
  | "HIT"
  /** Not there yet; it may be from now on. */
  | "MISS"
  /** It was there, too old; the origin sent another. */
  | "EXPIRED"
  /** It was there, too old; the origin does not answer as it should. */
  | "STALE"
  /** It was there, too old; a newer one is being fetched. */
  | "UPDATING"
  /** It was there, too old; the origin says that it still is as it was. */
  | "REVALIDATED"
  /** The origin or a setting forbids to keep it. */
  | "BYPASS"
  /** Nothing of the kind that is kept. */
  | "DYNAMIC";
