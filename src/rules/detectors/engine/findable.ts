/**
 * Characters of the shortest text that a detector finds anything in, or fewer: what is shorter need not be shown to it. Apart from
 * the detectors, so that whoever has only shorter texts need not load them.
 */
export const FINDABLE_CHARS_MIN = 8;
