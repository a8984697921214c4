import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { eventually } from "#edge/test-edge.ts";
import { requireTool } from "../support/tools.ts";
import { fetchOver, type SecureEdge, startSecureEdge } from "../support/secure-edge.ts";

const run = promisify(execFile);
const LARGE = Buffer.alloc(1_000_000, "0123456789");
let origin: Server;
let edge: SecureEdge;
let directory: string;
