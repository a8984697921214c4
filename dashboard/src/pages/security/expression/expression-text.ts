/** A text as expressions hold it. */
export const quoted = (text: string): string => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

const AND = " and ";

/** Comparisons joined by `and`; a text in quotes may hold the word. */
export function clausesOf(expression: string): readonly string[] {
  const clauses: string[] = [];
  let from = 0;
  let isQuoted = false;
  for (let at = 0; at < expression.length; at++) {
    const char = expression[at];
    if (char === "\\" && isQuoted) at++;
    else if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && expression.startsWith(AND, at)) {
      clauses.push(expression.slice(from, at));
      from = at + AND.length;
      at = from - 1;
    }
  }
  return [...clauses, expression.slice(from)].map((clause) => clause.trim()).filter(Boolean);
}

/** Nothing chosen is every request. */
export const joined = (clauses: readonly string[]): string => (clauses.length === 0 ? "true" : clauses.join(" and "));
