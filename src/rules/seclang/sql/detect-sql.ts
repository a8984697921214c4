export function detectSql(text: string): string | null { return null; }
