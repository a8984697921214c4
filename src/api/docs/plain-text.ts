import type { Token, Tokens } from "marked";

/** The text of a token without Markdown; the cells of tables are separated by spaces. */
export function plainText(token: Token): string {
  if (token.type === "html" || token.type === "space") return "";
  if (token.type === "table") {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows]
      .flat()
      .map(({ tokens }) => joined(tokens))
      .join(" ");
  }
  if (token.type === "list") return (token as Tokens.List).items.map(plainText).join(" ");
  const inner = (token as { readonly tokens?: readonly Token[] }).tokens;
  return inner === undefined ? ((token as { readonly text?: string }).text ?? "") : joined(inner);
}

const joined = (tokens: readonly Token[]): string => tokens.map(plainText).join("");
