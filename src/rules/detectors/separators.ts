/**
 * One separator between groups of digits, as a pattern over bytes: space, dash, dot, or a no-break space in
 * UTF-8, Latin-1 or HTML.
 */
export const SEPARATOR = String.raw`(?:[ .\-]|\xc2?\xa0|&nbsp;)`;

/** Nothing that would make the number part of a longer one: no word character, no further `.5` or `-5`. */
export const NUMBER_END = String.raw`(?!\w|[.\-]\d)`;
