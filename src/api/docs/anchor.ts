/** A heading's anchor as on GitHub: in lower case, without punctuation, with dashes for spaces. `heading` is without Markdown. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    // linear: at most 1024 bytes (a heading of the package's own documents)
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
