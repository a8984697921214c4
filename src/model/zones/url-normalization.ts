import { type Static, Type } from "typebox";

/** Whether rules see the normal form of a URL's path, and whether its origin gets it. */
export const UrlNormalization = Type.Object(
  {
    scope: Type.Enum(["incoming", "both", "none"], {
      description: "`incoming`: rules see the normalized path. `both`: the origin gets it as well. `none`: both see the path as received.",
    }),
    type: Type.Enum(["cloudflare", "rfc3986"], {
      description: "`rfc3986`: as RFC 3986 section 6.2.2 says. `cloudflare`: first, backslashes become slashes and several slashes one.",
    }),
  },
  { additionalProperties: false },
);
export type UrlNormalization = Static<typeof UrlNormalization>;
