export function detectMarkup(text: string): boolean { return false; }
