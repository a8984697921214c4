/** Runs the command line and leaves its exit code to the process. */
export async function run(args) {
  const first = new URL("kept-program.js", import.meta.url).href;
  await import(first);
  // Threads load it first as well (kernel/process/thread-program.ts).
  process.execArgv.push("--import", first);
  const { main } = await import("#app/cli/main.ts");
  process.exitCode = await main(args);
}
