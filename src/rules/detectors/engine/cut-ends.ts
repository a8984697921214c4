/**
 * Separators, also spelled and incomplete ones, and digits: a number of five groups may be cut to one of four.
 * linear: pumped
 */
// linear: pumped
const GOES_ON = /^[^A-Za-z"'<>{}()[\],\r\n\t|]*(?:[&\\%][#\w]*;?)?$/;
const GAP_BYTES_MAX = 12;

/** Whether the find may be longer than it seems; `rest` is the text between it and the cut. */
export const mayGoOn = (rest: Buffer): boolean => rest.length <= GAP_BYTES_MAX && GOES_ON.test(rest.toString("latin1"));

// linear: pumped
const GOES_BACK = /^(?:[#\w]*;)?[^A-Za-z"'<>{}()[\],\r\n\t|]*$/;

/** The same at the beginning: `before` is the text between the beginning and the find. */
export const mayGoBack = (before: Buffer): boolean => before.length <= GAP_BYTES_MAX && GOES_BACK.test(before.toString("latin1"));
