/** Hides what must not be kept of texts, in the parts between separators (rules/detectors/masking/text-masker.ts). */
export type MaskTexts = (texts: readonly string[], separator: string) => readonly string[];
