/**
 * Options for a new thread that preloads the same modules as this one. Node.js passes on those of its command line, but
 * others must be named.
 */
export function threadProgram(): { readonly execArgv?: string[] } {
  const execArgv = process.execArgv.flatMap((flag, index, flags) => {
    if (flag.startsWith("--import=")) return [flag];
    return flag === "--import" ? [flag, flags[index + 1] ?? ""] : [];
  });
  return execArgv.length === 0 ? {} : { execArgv };
}
