/** Hexadecimal, in any case; of zeros alone none consists (W3C Trace Context §3.2.2). */
export const isTraceId = (text: string, digits: number): boolean =>
  text.length === digits && /^[0-9a-f]*$/i.test(text) && /[^0]/.test(text);
