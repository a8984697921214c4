/**
 * Options for a new thread that loads its program as this one did: with the modules that this one was told to load first. Node.js
 * passes on those of its command line, and these only where they are named.
 */
export function threadProgram(): { readonly execArgv?: string[] } {
  const execArgv = process.execArgv.flatMap((flag, index, flags) => {
    if (flag.startsWith("--import=")) return [flag];
    return flag === "--import" ? [flag, flags[index + 1] ?? ""] : [];
  });
  return execArgv.length === 0 ? {} : { execArgv };
}
