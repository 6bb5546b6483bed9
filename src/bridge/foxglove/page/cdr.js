// SPDX-License-Identifier: Apache-2.0
// Decodes messages in CDR by their ros2msg definition. Both may be hostile: an error is thrown, and nothing grows
// beyond the message.

const READ = {
  bool: [1, (v, at) => v.getUint8(at) !== 0],
  byte: [1, (v, at) => v.getUint8(at), Uint8Array],
  char: [1, (v, at) => v.getUint8(at), Uint8Array],
  uint8: [1, (v, at) => v.getUint8(at), Uint8Array],
  int8: [1, (v, at) => v.getInt8(at), Int8Array],
  uint16: [2, (v, at, le) => v.getUint16(at, le), Uint16Array],
  int16: [2, (v, at, le) => v.getInt16(at, le), Int16Array],
  uint32: [4, (v, at, le) => v.getUint32(at, le), Uint32Array],
  int32: [4, (v, at, le) => v.getInt32(at, le), Int32Array],
  uint64: [8, (v, at, le) => v.getBigUint64(at, le), BigUint64Array],
  int64: [8, (v, at, le) => v.getBigInt64(at, le), BigInt64Array],
  float32: [4, (v, at, le) => v.getFloat32(at, le), Float32Array],
  float64: [8, (v, at, le) => v.getFloat64(at, le), Float64Array],
};
const FIELD = /^([A-Za-z][\w/]*)(<=\d+)?(\[(<=)?(\d*)\])?\s+([A-Za-z]\w*)\s*(.*)$/;
const DEEPEST = 32;

const short = (name) => name.replace("/msg/", "/");

/** {root, types: name → [{type, name, list: null | "sequence" | count, comment}]} */
export function parseSchema(name, text) {
  const types = new Map([
    ["builtin_interfaces/Time", parseFields("int32 sec\nuint32 nanosec")],
    ["builtin_interfaces/Duration", parseFields("int32 sec\nuint32 nanosec")],
  ]);
  const parts = text.split(/^={10,}[ \t]*$/m);
  types.set(short(name), parseFields(parts[0]));
  for (const part of parts.slice(1)) {
    const head = /^\s*MSG:[ \t]*(\S+)[ \t]*$/m.exec(part);
    if (head) types.set(short(head[1]), parseFields(part.slice(head.index + head[0].length)));
  }
  return { root: short(name), types };
}

function parseFields(text) {
  const fields = [];
  for (const line of text.split("\n")) {
    const found = FIELD.exec(line.replace(/#.*$/, "").trim());
    if (!found || found[7].startsWith("=")) continue; // empty, or a constant
    const [, type, , brackets, most, count, name] = found;
    const comment = line.includes("#") ? line.slice(line.indexOf("#") + 1) : "";
    fields.push({ type, name, list: !brackets ? null : most || count === "" ? "sequence" : Number(count), comment });
  }
  return fields;
}

export function resolve(schema, type, owner) {
  if (READ[type] || type === "string" || type === "wstring") return type;
  if (type === "time" || type === "duration") return "builtin_interfaces/" + (type === "time" ? "Time" : "Duration");
  if (type === "Header") return "std_msgs/Header";
  return type.includes("/") ? short(type) : owner.split("/")[0] + "/" + type;
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < 4 || this.view.getUint8(0) !== 0 || this.view.getUint8(1) > 1) throw new Error("not plain CDR");
    this.little = this.view.getUint8(1) === 1;
    this.at = 4;
  }
  align(size) {
    this.at += (size - ((this.at - 4) % size)) % size;
  }
  number(type) {
    const [size, read] = READ[type];
    this.align(size);
    this.at += size;
    return read(this.view, this.at - size, this.little);
  }
  text() {
    const size = this.number("uint32");
    const bytes = this.take(size);
    return new TextDecoder().decode(size ? bytes.subarray(0, size - 1) : bytes);
  }
  take(size) {
    if (size > this.bytes.length - this.at) throw new Error("the message ends too early");
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }
  numbers(type, count) {
    const [size, , List] = READ[type];
    if (count) this.align(size);
    const bytes = this.take(count * size);
    if (List === Uint8Array) return bytes; // pixels are not copied
    if (List && this.little) return new List(bytes.slice().buffer);
    this.at -= count * size;
    return Array.from({ length: count }, () => this.number(type));
  }
}

function value(schema, reader, type, owner, depth) {
  const name = resolve(schema, type, owner);
  if (READ[name]) return reader.number(name);
  if (name === "string") return reader.text();
  if (name === "wstring") throw new Error("a wstring is not shown");
  const fields = schema.types.get(name);
  if (!fields) throw new Error("the definition lacks " + name);
  if (depth > DEEPEST) throw new Error("the definition is nested too deeply");
  const message = {};
  if (fields.length === 0) reader.number("uint8"); // what ROS 2 puts into an empty message
  for (const field of fields) message[field.name] = list(schema, reader, field, name, depth);
  return message;
}

function list(schema, reader, field, owner, depth) {
  if (field.list === null) return value(schema, reader, field.type, owner, depth + 1);
  const count = field.list === "sequence" ? reader.number("uint32") : field.list;
  const name = resolve(schema, field.type, owner);
  if (READ[name]) return reader.numbers(name, count);
  if (count > reader.bytes.length - reader.at) throw new Error("the message ends too early");
  return Array.from({ length: count }, () => value(schema, reader, field.type, owner, depth + 1));
}

/** The message as an object; lists of numbers are typed arrays. */
export function decode(schema, bytes) {
  return value(schema, new Reader(bytes), schema.root, schema.root, 0);
}
