import type { PageShieldControl } from "#control/page-shield/page-shield.ts";
import type { Job } from "./job.ts";

const FETCH_EVERY_MS = 60_000;
/** New scripts of ten minutes are one alert: anybody can make up reports. */
const TELL_EVERY_MS = 600_000;

/** Fetches scripts that pages load, and notes which have changed. */
export const fetchPageScripts = ({ fetchScripts }: PageShieldControl): Job => ({
  name: "fetch-page-scripts",
  everyMs: FETCH_EVERY_MS,
  run: async () => {
    const { fetched, failed } = await fetchScripts.run();
    return fetched + failed === 0 ? null : { fetched, failed };
  },
});

/** Adds alerts about scripts and hosts that pages did not load before. */
export const tellPageNews = ({ news }: PageShieldControl): Job => ({
  name: "tell-page-news",
  everyMs: TELL_EVERY_MS,
  run: async () => {
    const resources = await news.tell();
    return resources === 0 ? null : { resources };
  },
});
