// SPDX-License-Identifier: Apache-2.0
// Foxglove's TypeScript reader and writer (npm @mcap/core) on our files, and our command on theirs.
//
//   node npm_check.mjs FOLDER_WITH_PROGRAMS FOLDER_WITH_NODE_MODULES
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import assert from "node:assert/strict";

const [programs, modules] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(join(modules, "node_modules", "x.js"));
const { McapIndexedReader, McapStreamReader, McapWriter } = require("@mcap/core");
const { loadDecompressHandlers } = require("@mcap/support");

const run = (name, ...args) => execFileSync(join(programs, name), args, { encoding: "utf8" });
const inMemory = (bytes) => ({
  size: async () => BigInt(bytes.byteLength),
  read: async (offset, size) => new Uint8Array(bytes.buffer, bytes.byteOffset + Number(offset), Number(size)),
});

async function readsOurs(folder, decompressHandlers) {
  const messages = join(folder, "messages");
  mkdirSync(messages);
  run("interop_messages", "write", messages);
  const contents = new Map(
    readdirSync(messages).filter((n) => n.endsWith(".cdr")).map((n) => ["/" + n.slice(0, -4), readFileSync(join(messages, n))]),
  );
  for (const compression of ["none", "lz4", "zstd"]) {
    const path = join(folder, compression + ".mcap");
    run("mcap_pack", messages, path, compression);
    const bytes = readFileSync(path);

    const reader = await McapIndexedReader.Initialize({ readable: inMemory(bytes), decompressHandlers });
    let count = 0;
    let last = 0n;
    for await (const message of reader.readMessages({ validateCrcs: true })) {
      const topic = reader.channelsById.get(message.channelId).topic;
      assert.deepEqual(Buffer.from(message.data), contents.get(topic), topic);
      assert.ok(message.logTime >= last);
      last = message.logTime;
      ++count;
    }
    assert.equal(count, 10 * contents.size);
    assert.equal(Number(reader.statistics.messageCount), count);

    const stream = new McapStreamReader({ validateCrcs: true, decompressHandlers });
    stream.append(bytes);
    let streamed = 0;
    for (let record; (record = stream.nextRecord()); ) streamed += record.type === "Message" ? 1 : 0;
    assert.ok(stream.done());
    assert.equal(streamed, count);
    console.log(`@mcap/core reads ours, ${compression}: ${count} messages`);
  }
}

// The file of `cardan record` while it runs: large samples between seams, small ones in chunks.
async function readsRecorded(folder, decompressHandlers) {
  const env = { ...process.env, CARDAN_RUN_DIR: join(folder, "run") };
  mkdirSync(env.CARDAN_RUN_DIR);
  const publisher = spawn(join(programs, "record_publisher"), { env, stdio: ["pipe", "pipe", "inherit"] });
  try {
    await new Promise((ready) => publisher.stdout.once("data", ready));
    for (const compression of ["none", "lz4", "zstd"]) {
      const path = join(folder, `recorded-${compression}.mcap`);
      const words = ["record", "-o", path, "--seconds", "1", "--min-space", "0", "--compression", compression, "--json"];
      const report = JSON.parse(execFileSync(join(programs, "cardan"), words, { env, encoding: "utf8" }));
      const bytes = readFileSync(path);
      const reader = await McapIndexedReader.Initialize({ readable: inMemory(bytes), decompressHandlers });
      const sequences = new Map();
      for await (const message of reader.readMessages({ validateCrcs: true })) {
        const topic = reader.channelsById.get(message.channelId).topic;
        if (sequences.has(topic)) assert.equal(message.sequence, sequences.get(topic) + 1, topic);
        sequences.set(topic, message.sequence);
      }
      assert.equal(Number(reader.statistics.messageCount), report.recorded);
      assert.ok(sequences.has("/camera/front") && sequences.has("/imu"), [...sequences.keys()].join(" "));

      const stream = new McapStreamReader({ validateCrcs: true, decompressHandlers });
      stream.append(bytes);
      let streamed = 0;
      for (let record; (record = stream.nextRecord()); ) streamed += record.type === "Message" ? 1 : 0;
      assert.ok(stream.done());
      assert.equal(streamed, report.recorded);
      console.log(`@mcap/core reads what is recorded, ${compression}: ${streamed} messages`);
    }
  } finally {
    const ended = new Promise((end) => publisher.once("exit", end));
    publisher.stdin.end();
    await ended;
  }
}

async function writesForUs(folder) {
  for (const useChunks of [true, false]) {
    const parts = [];
    let size = 0n;
    const writable = { position: () => size, write: async (data) => void (parts.push(Buffer.from(data)), (size += BigInt(data.byteLength))) };
    const writer = new McapWriter({ writable, useChunks, chunkSize: 2000 });
    await writer.start({ profile: "", library: "npm" });
    const schemaId = await writer.registerSchema({ name: "Thing", encoding: "jsonschema", data: Buffer.from("{}") });
    const channelId = await writer.registerChannel({ topic: "/thing", messageEncoding: "json", schemaId, metadata: new Map([["a", "b"]]) });
    for (let i = 0; i < 300; ++i) {
      const time = BigInt(1000 + 7 * i);
      await writer.addMessage({ channelId, sequence: i, logTime: time, publishTime: time, data: Buffer.from(`{"i":${i}}`) });
    }
    await writer.addAttachment({ name: "n", mediaType: "text/plain", logTime: 1n, createTime: 1n, data: Buffer.from("hi") });
    await writer.addMetadata({ name: "m", metadata: new Map([["k", "v"]]) });
    await writer.end();
    const path = join(folder, `theirs-${useChunks}.mcap`);
    writeFileSync(path, Buffer.concat(parts));

    const listed = run("cardan", "bag", "ls", path, "--json").trim().split("\n").map((line) => JSON.parse(line));
    assert.deepEqual(listed.map((m) => m.sequence), [...Array(300).keys()]);
    assert.deepEqual(listed.map((m) => m.bytes), listed.map((m) => `{"i":${m.sequence}}`.length));
    assert.equal(JSON.parse(run("cardan", "bag", "verify", path, "--json"))[0].good, true);
    assert.deepEqual(JSON.parse(run("cardan", "bag", "info", path, "--json")).metadata, { m: { k: "v" } });
    console.log(`we read @mcap/core's, ${useChunks ? "in chunks" : "without chunks"}: ${listed.length} messages`);
  }
}

const folder = mkdtempSync(join(tmpdir(), "cardan-mcap-"));
try {
  const decompressHandlers = await loadDecompressHandlers();
  await readsOurs(folder, decompressHandlers);
  await readsRecorded(folder, decompressHandlers);
  await writesForUs(folder);
} finally {
  rmSync(folder, { recursive: true });
}
