/** Separators, spelled ones and such as are cut themselves among them, and digits: a number of five groups may be cut to one of four. */
// linear: pumped
const GOES_ON = /^[^A-Za-z"'<>{}()[\],\r\n\t|]*(?:[&\\%][#\w]*;?)?$/;
const GAP_BYTES_MAX = 12;

/** Whether what was found may be longer than it was found to be; `rest` is what stands between it and the cut. */
export const mayGoOn = (rest: Buffer): boolean => rest.length <= GAP_BYTES_MAX && GOES_ON.test(rest.toString("latin1"));

// linear: pumped
const GOES_BACK = /^(?:[#\w]*;)?[^A-Za-z"'<>{}()[\],\r\n\t|]*$/;

/** The same at the other end: `before` is what stands between the beginning and what was found. */
export const mayGoBack = (before: Buffer): boolean => before.length <= GAP_BYTES_MAX && GOES_BACK.test(before.toString("latin1"));
