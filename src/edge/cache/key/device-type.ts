export type DeviceType = "mobile" | "tablet" | "desktop";

const TABLET = /ipad|tablet|kindle|silk\/|playbook|nexus (?:7|9|10)\b|\bsm-t\d/i;
const MOBILE = /mobi|iphone|ipod|windows phone|blackberry|bb10|opera mini|iemobile/i;

/** What kind of device a User-Agent speaks of; desktop where it says nothing. Android without "Mobile" is a tablet, by its makers' own rule. */
export function deviceType(userAgent: string): DeviceType {
  if (TABLET.test(userAgent)) return "tablet";
  if (MOBILE.test(userAgent)) return "mobile";
  return /android/i.test(userAgent) ? "tablet" : "desktop";
}
