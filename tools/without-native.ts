import { setNativeMode } from "#kernel/process/native-transport.ts";

// For `node --import`: the program then runs as if `runtime.native` were off, in all of its threads.
setNativeMode("off");
