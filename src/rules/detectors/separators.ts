/**
 * One separator between groups of a number, as a pattern over bytes: space, dash, dot, a no-break space in UTF-8,
 * Latin-1 or HTML, or a typesetter's space or dash (U+2000 to U+200A, U+2010 to U+2015, U+202F) in UTF-8.
 */
export const SEPARATOR = String.raw`(?:[ .\-]|\xc2?\xa0|\xe2\x80[\x80-\x8a\x90-\x95\xaf]|&nbsp;)`;
