import { setNativeMode } from "#kernel/process/native-transport.ts";

// For `node --import`: what runs then does as if `runtime.native` was off, in all of its threads.
setNativeMode("off");
