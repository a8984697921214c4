// linear: pumped
const TAG = /^[\x21-\x2b\x2d-\x7e]{1,1024}$/;
const TAGS_MAX = 1_000;

/** The tags of Cache-Tag fields in lower case; ignores invalid ones. */
export const readTags = (lines: readonly string[]): readonly string[] => [
  ...new Set(
    lines
      .join(",")
      .toLowerCase()
      .split(",", TAGS_MAX)
      .map((tag) => tag.trim())
      .filter((tag) => TAG.test(tag)),
  ),
];
