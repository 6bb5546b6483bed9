// SPDX-License-Identifier: Apache-2.0
// The common part of the checks of bridges under node: the programs, in their own run directory.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs `check({start, folder})`, and ends what it started. */
export async function withPrograms(programs, check) {
  const folder = mkdtempSync(join(tmpdir(), "cardan-bridge-"));
  const env = { ...process.env, CARDAN_RUN_DIR: join(folder, "run"), TMPDIR: folder };
  delete env.CARDAN_DOMAIN;
  const all = [];
  /** The process and its first line. */
  const start = (name, ...words) =>
    new Promise((ready, failed) => {
      const process = spawn(join(programs, name), words.map(String), { env, stdio: ["pipe", "pipe", "inherit"] });
      all.push(process);
      createInterface({ input: process.stdout }).once("line", (line) => ready({ process, line }));
      process.once("error", failed);
    });
  try {
    await check({ start, folder });
  } finally {
    for (const process of all) process.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** A bridge on a free port, if the words name none. */
export async function startBridge(start, ...words) {
  const { process, line } = await start("cardan", "bridge", "foxglove", "--json", ...(words.includes("--port") ? [] : ["--port", 0]), ...words);
  return { process, port: Number(/ws:\/\/127\.0\.0\.1:(\d+)/.exec(line)[1]) };
}

/** Waits until `is()` is true. The test's time-out ends what never is. */
export async function until(is) {
  while (!is()) await new Promise((next) => setTimeout(next, 20));
}
