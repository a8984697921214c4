export type DeviceType = "mobile" | "tablet" | "desktop";

const TABLET = /ipad|tablet|kindle|silk\/|playbook|nexus (?:7|9|10)\b|\bsm-t\d/i;
const MOBILE = /mobi|iphone|ipod|windows phone|blackberry|bb10|opera mini|iemobile/i;

/** The device type of a User-Agent; desktop by default. Android without "Mobile" is a tablet, as Google documents. */
export function deviceType(userAgent: string): DeviceType {
  if (TABLET.test(userAgent)) return "tablet";
  if (MOBILE.test(userAgent)) return "mobile";
  return /android/i.test(userAgent) ? "tablet" : "desktop";
}
