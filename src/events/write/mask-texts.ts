/** Hides sensitive data in texts, in the parts between separators (rules/detectors/masking/text-masker.ts). */
export type MaskTexts = (texts: readonly string[], separator: string) => readonly string[];
