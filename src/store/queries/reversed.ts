export function reversed(text: string): string {
  let turned = "";
  for (const character of text.toWellFormed()) turned = character + turned;
  return turned;
}
