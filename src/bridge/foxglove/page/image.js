// SPDX-License-Identifier: Apache-2.0
// Draws images as they are published, scaled to what the screen shows.

const WIDEST = 960; // pixels
// bytes of a pixel, and where red, green and blue are in it
const FORMATS = {
  bgr8: [3, 2, 1, 0],
  rgb8: [3, 0, 1, 2],
  bgra8: [4, 2, 1, 0],
  rgba8: [4, 0, 1, 2],
  mono8: [1, 0, 0, 0],
  "8UC1": [1, 0, 0, 0],
  "8UC3": [3, 2, 1, 0],
  mono16: [2, 1, 1, 1],
  "16UC1": [2, 1, 1, 1],
  bayer_rggb8: [1, 0, 0, 0],
  bayer_bggr8: [1, 0, 0, 0],
  bayer_gbrg8: [1, 0, 0, 0],
  bayer_grbg8: [1, 0, 0, 0],
};

export const isImage = (type) => type === "sensor_msgs/Image" || type === "sensor_msgs/CompressedImage";

/** RGBA of every `step`-th pixel. Throws Error: the image's parts do not fit together. */
export function pixels(image, widest = WIDEST) {
  const format = FORMATS[image.encoding];
  if (!format) throw new Error(`images in ${image.encoding} are not drawn`);
  const [size, red, green, blue] = format;
  const { width, height, step: stride, data } = image;
  if (width === 0 || height === 0 || stride < width * size || data.length < stride * (height - 1) + width * size)
    throw new Error("the image has fewer bytes than its size says");
  const step = Math.max(1, Math.ceil(width / widest));
  const w = Math.floor((width - 1) / step) + 1;
  const h = Math.floor((height - 1) / step) + 1;
  const rgba = new Uint8ClampedArray(w * h * 4);
  let to = 0;
  for (let y = 0; y < h; ++y) {
    let from = y * step * stride;
    for (let x = 0; x < w; ++x, from += step * size) {
      rgba[to++] = data[from + red];
      rgba[to++] = data[from + green];
      rgba[to++] = data[from + blue];
      rgba[to++] = 255;
    }
  }
  return { rgba, width: w, height: h };
}

/** A JPEG of the bridge. Throws what the browser says of a damaged one. Returns false if it `isWanted` no longer when it is
    decoded: it is not drawn then. */
export async function drawPicture(canvas, jpeg, isWanted = () => true) {
  const bitmap = await createImageBitmap(new Blob([jpeg], { type: "image/jpeg" }));
  if (!isWanted()) {
    bitmap.close();
    return false;
  }
  if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) Object.assign(canvas, { width: bitmap.width, height: bitmap.height });
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
  bitmap.close();
  return true;
}

export function drawImage(canvas, image) {
  const context = canvas.getContext("2d");
  if (image.format !== undefined) {
    createImageBitmap(new Blob([image.data])).then(
      (bitmap) => {
        canvas.width = bitmap.width;
        canvas.height = bitmap.height;
        context.drawImage(bitmap, 0, 0);
      },
      () => context.clearRect(0, 0, canvas.width, canvas.height),
    );
    return;
  }
  const { rgba, width, height } = pixels(image);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  context.putImageData(new ImageData(rgba, width, height), 0, 0);
}
