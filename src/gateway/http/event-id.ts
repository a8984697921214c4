/** What a field can carry back, within bounds. */
export const isEventId = (text: string): boolean => /^[\x21-\x7e]{1,128}$/.test(text);
