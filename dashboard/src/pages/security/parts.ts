/** Parts of a request as people call them: by their field in expressions, or by their variable in the Core Rule Set. */
const PARTS: Readonly<Record<string, string>> = {
  "http.request.uri.args": "the query argument",
  "http.request.uri.args.names": "the name of the query argument",
  "http.request.uri": "the address",
  "http.request.uri.path": "the path",
  "http.request.uri.query": "the query",
  "http.request.headers": "the header",
  "http.request.headers.names": "the name of the header",
  "http.request.cookies": "the cookie",
  "http.request.body.form": "the form field",
  "http.request.body.form.names": "the name of the form field",
  "http.request.body.raw": "the body",
  "http.request.body.multipart": "the uploaded part",
  "http.user_agent": "the user agent",
  ARGS: "the argument",
  ARGS_GET: "the query argument",
  ARGS_POST: "the form field",
  ARGS_NAMES: "the name of the argument",
  REQUEST_HEADERS: "the header",
  REQUEST_HEADERS_NAMES: "the name of the header",
  REQUEST_COOKIES: "the cookie",
  REQUEST_COOKIES_NAMES: "the name of the cookie",
  REQUEST_URI: "the address",
  REQUEST_URI_RAW: "the address",
  REQUEST_FILENAME: "the path",
  REQUEST_BASENAME: "the last part of the path",
  REQUEST_BODY: "the body",
  REQUEST_LINE: "the request line",
  QUERY_STRING: "the query",
  FILES: "the name of the uploaded file",
};

export const partName = (part: string | undefined): string => (part === undefined ? "the request" : (PARTS[part] ?? part));

/** The phases as pages name them, in the order in which they run. */
export const PHASE_TITLES: Readonly<Record<string, string>> = {
  http_request_dynamic_redirect: "Redirects",
  http_request_transform: "Changes of the address",
  http_config_settings: "Settings",
  http_request_origin: "Origin",
  http_request_firewall_custom: "Custom rules",
  http_ratelimit: "Rate limits",
  http_request_firewall_managed: "Managed rules",
  http_request_redirect: "Redirects of lists",
  http_request_late_transform: "Headers of requests",
  http_request_cache_settings: "Cache",
  http_custom_errors: "Error pages",
  http_response_headers_transform: "Headers of responses",
  http_response_compression: "Compression",
  http_response_firewall_managed: "Sensitive data",
  http_log_custom_fields: "Fields of logs",
};

export const phaseTitle = (phase: string): string => PHASE_TITLES[phase] ?? phase;
