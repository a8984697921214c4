/**
 * Characters of the shortest text with a find, or fewer: shorter texts need no scan. In a separate file, so that a caller
 * with only short texts does not load the detectors.
 */
export const FINDABLE_CHARS_MIN = 8;
