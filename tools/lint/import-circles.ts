/**
 * Groups of files that import each other in a circle, types included; each is listed in the order in which it was found.
 * `imports` has the targets of each file. Linear in files and imports (Tarjan 1972).
 */
export function importCircles(imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const numbers = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const circles: (readonly string[])[] = [];
  const visit = (file: string): void => {
    numbers.set(file, numbers.size);
    lowest.set(file, numbers.get(file)!);
    open.push(file);
    isOpen.add(file);
    for (const target of imports.get(file) ?? []) {
      if (!numbers.has(target)) visit(target);
      if (isOpen.has(target)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!));
    }
    if (lowest.get(file) !== numbers.get(file)) return;
    const group = open.splice(open.indexOf(file));
    for (const member of group) isOpen.delete(member);
    if (group.length > 1) circles.push(group);
  };
  for (const file of imports.keys()) if (!numbers.has(file)) visit(file);
  return circles;
}
