/** A header field that the gateway adds to requests to the provider. */
export interface HeaderField {
  readonly name: string;
  readonly value: string;
}

/** Fields from the JSON text that the API has. Values read as asterisks, which keep the value when they are sent back. */
export function fieldsOf(text: string | undefined): readonly HeaderField[] {
  try {
    const fields: unknown = JSON.parse(text || "{}");
    return Object.entries(fields as Record<string, unknown>).map(([name, value]) => ({ name, value: String(value) }));
  } catch {
    return [];
  }
}

export const fieldsText = (fields: readonly HeaderField[]): string =>
  JSON.stringify(Object.fromEntries(fields.filter(({ name }) => name.trim() !== "").map(({ name, value }) => [name.trim(), value.trim()])));
