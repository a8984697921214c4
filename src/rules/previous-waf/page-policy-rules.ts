/** Browsers send their reports here, at the page's own name; other CDNs use the same path. */
export const PAGE_REPORT_PATH = "/cdn-cgi/script_monitor/report";
/** The policy that a report is about. */
export const PAGE_POLICY_PARAMETER = "policy";
