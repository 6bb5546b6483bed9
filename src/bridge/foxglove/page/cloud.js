// SPDX-License-Identifier: Apache-2.0
// Points in WebGL, to be turned, moved and zoomed by mouse, touch and keys. x is ahead, z is up (REP-103).

const VERTEX = `
attribute vec4 point;
uniform mat4 matrix;
uniform vec2 range;
uniform float size;
uniform float scale;
varying float tone;
void main() {
  gl_Position = matrix * vec4(point.xyz * scale, 1.0);
  gl_PointSize = size;
  tone = clamp((point.w - range.x) / max(range.y - range.x, 1e-6), 0.0, 1.0);
}`;
const FRAGMENT = `
precision mediump float;
varying float tone;
uniform vec4 plain;
void main() {
  vec3 rainbow = clamp(abs(fract(0.7 - 0.7 * tone + vec3(1.0, 2.0 / 3.0, 1.0 / 3.0)) * 6.0 - 3.0) - 1.0, 0.0, 1.0);
  gl_FragColor = plain.a > 0.0 ? plain : vec4(mix(vec3(0.15), rainbow, 0.9), 1.0);
}`;
const GRID = 10; // lines to each side
const STEEPEST = 1.55; // radians
const LENS = 1.6;
const LOOKED_AT = 2000; // points of a cloud, to find out where most of them are

/** The number below which `part` of them lie; a few that are far off change nothing. */
export function quantile(numbers, part) {
  const sorted = numbers.filter(Number.isFinite).sort((a, b) => a - b);
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] : 0;
}

function multiply(a, b) {
  const c = new Float32Array(16);
  for (let i = 0; i < 4; ++i)
    for (let j = 0; j < 4; ++j) for (let k = 0; k < 4; ++k) c[4 * i + j] += a[4 * k + j] * b[4 * i + k];
  return c;
}

/** From the point `distance` away in the direction of `yaw` and `pitch` to the middle of the screen. By columns. */
export function matrixOf({ yaw, pitch, distance, centre }, aspect) {
  const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
  const back = [-cy * cp, -sy * cp, sp]; // from the centre to the eye
  const right = [sy, -cy, 0];
  const up = [cy * sp, sy * sp, cp];
  const dot = (a) => -(a[0] * centre[0] + a[1] * centre[1] + a[2] * centre[2]);
  const look = [right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0, dot(right), dot(up), dot(back) - distance, 1];
  const [near, far, f] = [distance / 50, distance * 50, LENS];
  const lens = [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
  return multiply(lens, look);
}

export class CloudView {
  #gl;
  #count = 0;
  #boxCount = 0;
  #range = [0, 1];
  #fits = false;
  #places = {};
  eye = { yaw: 0, pitch: 0.6, distance: 30, centre: [0, 0, 0] };

  constructor(canvas) {
    this.canvas = canvas;
    this.#gl = canvas.getContext("webgl", { antialias: true, preserveDrawingBuffer: true });
    if (this.#gl?.createProgram) this.#setUp();
    else this.#gl = null;
    this.#listen();
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  /** Metres between the lines of the grid. */
  get spacing() {
    const rough = (this.radius ?? 50) / GRID;
    const ten = 10 ** Math.floor(Math.log10(rough));
    return rough > 5 * ten ? 10 * ten : rough > 2 * ten ? 5 * ten : rough > ten ? 2 * ten : ten;
  }
  get works() {
    return this.#gl !== null;
  }

  #setUp() {
    const gl = this.#gl;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.bindAttribLocation(program, 0, "point");
    gl.linkProgram(program);
    gl.useProgram(program);
    gl.enable(gl.DEPTH_TEST);
    gl.enableVertexAttribArray(0);
    for (const name of ["matrix", "range", "size", "scale", "plain"]) this.#places[name] = gl.getUniformLocation(program, name);
    const lines = [];
    for (let i = -GRID; i <= GRID; ++i) lines.push(i, -GRID, 0, 0, i, GRID, 0, 0, -GRID, i, 0, 0, GRID, i, 0, 0);
    this.points = gl.createBuffer();
    this.boxes = gl.createBuffer();
    this.grid = gl.createBuffer();
    this.gridCount = lines.length / 4;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.grid);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(lines), gl.STATIC_DRAW);
  }

  /** x, y, z and a number for the colour, of each point. `lines`: the same of their ends, as edgesOf() of boxes.js. */
  show(numbers, lines = new Float32Array(0)) {
    const [tones, radii] = [[], []];
    const step = 4 * Math.max(1, Math.floor(numbers.length / 4 / LOOKED_AT));
    for (let i = 0; i < numbers.length; i += step) {
      tones.push(numbers[i + 3]);
      radii.push(Math.hypot(numbers[i], numbers[i + 1], numbers[i + 2]));
    }
    const [least, most] = [quantile(tones, 0.01), quantile(tones, 0.99)];
    this.#range = least < most ? [least, most] : [0, 1];
    this.#count = numbers.length / 4;
    this.radius = Math.min(Math.max(quantile(radii, 0.98), 1), 1e6);
    if (!this.#fits && this.#count) this.reset();
    if (!this.#gl) return;
    this.#gl.bindBuffer(this.#gl.ARRAY_BUFFER, this.points);
    this.#gl.bufferData(this.#gl.ARRAY_BUFFER, numbers, this.#gl.STREAM_DRAW);
    this.#boxCount = lines.length / 4;
    this.#gl.bindBuffer(this.#gl.ARRAY_BUFFER, this.boxes);
    this.#gl.bufferData(this.#gl.ARRAY_BUFFER, lines, this.#gl.STREAM_DRAW);
    this.draw();
  }

  /** Another topic: the next cloud decides how far away the eye is. */
  clear() {
    this.#fits = false;
    this.#count = this.#boxCount = 0;
    this.draw();
  }
  reset() {
    this.#fits = true;
    this.eye = { yaw: 0, pitch: 0.6, distance: (this.radius ?? 15) * 1.6, centre: [0, 0, 0] };
    this.draw();
  }
  fromAbove() {
    Object.assign(this.eye, { yaw: 0, pitch: STEEPEST });
    this.draw();
  }
  turn(yaw, pitch) {
    this.eye.yaw += yaw;
    this.eye.pitch = Math.min(Math.max(this.eye.pitch + pitch, -STEEPEST), STEEPEST);
    this.draw();
  }
  /** By pixels of the screen. */
  move(dx, dy) {
    const { yaw, pitch, distance, centre } = this.eye;
    const step = (2 * distance) / (LENS * Math.max(this.canvas.clientHeight, 1));
    const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
    const [right, up] = [[sy, -cy, 0], [cy * sp, sy * sp, cp]];
    this.eye.centre = centre.map((at, i) => at + (dy * up[i] - dx * right[i]) * step);
    this.draw();
  }
  zoom(factor) {
    this.eye.distance = Math.min(Math.max(this.eye.distance * factor, 0.1), 1e7);
    this.draw();
  }

  draw() {
    const gl = this.#gl;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (!gl || !width || !height) return;
    const scale = Math.min(window.devicePixelRatio || 1, 2);
    const size = { width: Math.round(width * scale), height: Math.round(height * scale) };
    if (this.canvas.width !== size.width || this.canvas.height !== size.height) Object.assign(this.canvas, size);
    gl.viewport(0, 0, size.width, size.height);
    gl.clearColor(0.06, 0.07, 0.09, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniformMatrix4fv(this.#places.matrix, false, matrixOf(this.eye, width / height));
    gl.uniform2f(this.#places.range, ...this.#range);
    gl.uniform1f(this.#places.size, 2 * scale);
    this.#drawBuffer(this.grid, [0.3, 0.33, 0.38, 1], this.spacing, gl.LINES, this.gridCount);
    this.#drawBuffer(this.points, [0, 0, 0, 0], 1, gl.POINTS, this.#count);
    this.#drawBuffer(this.boxes, [0.22, 1, 0.43, 1], 1, gl.LINES, this.#boxCount);
  }
  #drawBuffer(buffer, plain, scale, kind, count) {
    const gl = this.#gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.vertexAttribPointer(0, 4, gl.FLOAT, false, 0, 0);
    gl.uniform4f(this.#places.plain, ...plain);
    gl.uniform1f(this.#places.scale, scale);
    if (count) gl.drawArrays(kind, 0, count);
  }

  #listen() {
    const fingers = new Map(); // pointer → [x, y]
    const apart = () => {
      const [a, b] = [...fingers.values()];
      return Math.hypot(a[0] - b[0], a[1] - b[1]);
    };
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    canvas.addEventListener("pointermove", (event) => {
      const was = fingers.get(event.pointerId);
      if (!was) return;
      const before = fingers.size === 2 ? apart() : 0;
      const [dx, dy] = [event.clientX - was[0], event.clientY - was[1]];
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      if (fingers.size === 2) {
        this.zoom(before / Math.max(apart(), 1));
        this.move(dx / 2, dy / 2); // the other finger moves the other half
      } else if (event.shiftKey || event.buttons & 6) this.move(dx, dy);
      else this.turn(-dx / 200, dy / 200);
    });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => fingers.delete(event.pointerId));
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY / 500));
    });
    canvas.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [20, 0], ArrowRight: [-20, 0], ArrowUp: [0, 20], ArrowDown: [0, -20] }[event.key];
      const act = moves && event.shiftKey ? () => this.move(...moves) : {
        ArrowLeft: () => this.turn(0.1, 0),
        ArrowRight: () => this.turn(-0.1, 0),
        ArrowUp: () => this.turn(0, 0.1),
        ArrowDown: () => this.turn(0, -0.1),
        "+": () => this.zoom(0.85),
        "-": () => this.zoom(1 / 0.85),
        "=": () => this.zoom(0.85),
        r: () => this.reset(),
        R: () => this.reset(),
      }[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    });
  }
}
