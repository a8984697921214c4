/**
 * One separator between groups of a number, as a pattern over bytes: space, dash, dot, or a no-break space in UTF-8,
 * Latin-1 or HTML.
 */
export const SEPARATOR = String.raw`(?:[ .\-]|\xc2?\xa0|&nbsp;)`;
