// SPDX-License-Identifier: Apache-2.0
// An image that is looked at closely: larger than its frame, and moved within it.

const MOST = 16;

export class Zoom {
  factor = 1;

  /** `frame` scrolls over `canvas`. `changed()`: another factor. */
  constructor(frame, canvas, changed) {
    Object.assign(this, { frame, canvas, changed });
    frame.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.shiftKey && this.factor === 1 && event.deltaY > 0) return; // the page scrolls
        event.preventDefault();
        this.by(event.deltaY < 0 ? 1.25 : 0.8, event.clientX, event.clientY);
      },
      { passive: false },
    );
    let from = null;
    frame.addEventListener("pointerdown", (event) => {
      if (this.factor === 1 || event.pointerType === "touch") return; // fingers scroll by themselves
      from = { x: event.clientX + frame.scrollLeft, y: event.clientY + frame.scrollTop };
      frame.setPointerCapture(event.pointerId);
    });
    frame.addEventListener("pointermove", (event) => from && frame.scrollTo(from.x - event.clientX, from.y - event.clientY));
    for (const end of ["pointerup", "pointercancel"]) frame.addEventListener(end, () => (from = null));
    frame.addEventListener("keydown", (event) => {
      if (event.key === "+") this.by(1.25);
      else if (event.key === "-") this.by(0.8);
      else if (event.key === "0") this.fit();
      else return;
      event.preventDefault();
    });
  }

  /** Around a place of the window, or the frame's middle. */
  by(factor, x, y) {
    const box = this.frame.getBoundingClientRect();
    const [dx, dy] = [(x ?? box.x + box.width / 2) - box.x, (y ?? box.y + box.height / 2) - box.y];
    const at = { x: (this.frame.scrollLeft + dx) / this.factor, y: (this.frame.scrollTop + dy) / this.factor };
    this.#set(Math.min(MOST, Math.max(1, this.factor * factor)));
    this.frame.scrollTo(at.x * this.factor - dx, at.y * this.factor - dy);
  }
  fit() {
    this.#set(1);
  }
  #set(factor) {
    this.factor = factor < 1.05 ? 1 : factor;
    this.canvas.style.width = `${this.factor * 100}%`;
    this.frame.classList.toggle("zoomed", this.factor > 1);
    this.changed();
  }
}
