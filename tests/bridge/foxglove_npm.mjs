// SPDX-License-Identifier: Apache-2.0
// Foxglove's own client (npm @foxglove/ws-protocol, which Lichtblick uses) on our bridge. Their library decodes.
//
//   node foxglove_npm.mjs FOLDER_WITH_PROGRAMS FOLDER_WITH_NODE_MODULES
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { startBridge, until, withPrograms } from "./programs.mjs";

const [programs, modules] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(join(modules, "node_modules", "x.js"));
const { FoxgloveClient } = require("@foxglove/ws-protocol");
const { MessageReader, MessageWriter } = require("@foxglove/rosmsg2-serialization");
const { parse } = require("@foxglove/rosmsg");
const WebSocket = require("ws");

await withPrograms(programs, async ({ start }) => {
  await start("bridge_sensors", 320, 240, 10, 5000, 10);
  const { port } = await startBridge(start, "--in", "/point");
  for (const protocol of ["foxglove.websocket.v1", "foxglove.sdk.v1"]) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, [protocol]);
    const client = new FoxgloveClient({ ws: socket });
    const channels = new Map();
    const messages = new Map();
    const statuses = [];
    let info = null;
    client.on("serverInfo", (event) => (info = event));
    client.on("status", (event) => statuses.push(event.message));
    client.on("error", (error) => assert.fail(error));
    client.on("advertise", (some) => some.forEach((channel) => channels.set(channel.topic, channel)));
    client.on("unadvertise", (ids) => channels.forEach((channel, topic) => ids.includes(channel.id) && channels.delete(topic)));
    // The client's earlier publications go first.
    await until(() => info && channels.has("/camera") && channels.has("/cloud") && !channels.has("/point"));
    assert.ok(info.capabilities.includes("clientPublish"));

    const read = (topic) => {
      const channel = channels.get(topic);
      const reader = new MessageReader(parse(channel.schema, { ros2: true }));
      const id = client.subscribe(channel.id);
      client.on("message", (event) => {
        if (event.subscriptionId === id) messages.set(topic, { at: event.timestamp, value: reader.readMessage(event.data) });
      });
    };
    read("/camera");
    read("/cloud");
    await until(() => messages.size === 2);
    const image = messages.get("/camera").value;
    assert.deepEqual([image.width, image.height, image.encoding, image.step], [320, 240, "bgr8", 960]);
    const pattern = Uint8Array.from(image.data, (_, i) => i + image.data[0]);
    assert.deepEqual(Buffer.from(image.data), Buffer.from(pattern));
    const cloud = messages.get("/cloud").value;
    assert.deepEqual(cloud.fields.map((field) => field.name), ["x", "y", "z"]);
    const view = new DataView(cloud.data.buffer, cloud.data.byteOffset, cloud.data.byteLength);
    assert.equal(view.getFloat32(16 * 4999, true), 4999);
    assert.ok(Math.abs(Number(messages.get("/camera").at / 1000000n) - Date.now()) < 3_600_000);

    const schema = "float64 x\nfloat64 y\nfloat64 z\n";
    const channel = client.advertise({ topic: "/point", encoding: "cdr", schemaName: "geometry_msgs/msg/Vector3", schema, schemaEncoding: "ros2msg" });
    const bytes = new MessageWriter(parse(schema, { ros2: true })).writeMessage({ x: 1, y: 2, z: 3 });
    client.sendMessage(channel, bytes);
    await until(() => channels.has("/point"));
    read("/point");
    const again = setInterval(() => client.sendMessage(channel, bytes), 50);
    await until(() => messages.has("/point"));
    clearInterval(again);
    assert.deepEqual({ ...messages.get("/point").value }, { x: 1, y: 2, z: 3 });
    client.advertise({ topic: "/brake", encoding: "cdr", schemaName: "std_msgs/msg/Bool" });
    await until(() => statuses.some((text) => text.includes("/brake")));

    let published = null;
    client.on("connectionGraphUpdate", (event) => (published ??= event.publishedTopics));
    client.subscribeConnectionGraph();
    await until(() => published?.some((topic) => topic.name === "/camera"));
    client.close();
    console.log(`@foxglove/ws-protocol by ${protocol}: an image, a point cloud, a message of the client's, the graph`);
  }
});
