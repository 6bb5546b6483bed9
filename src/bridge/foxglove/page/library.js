// SPDX-License-Identifier: Apache-2.0
// The page's libraries, which the build puts into it if they are there (page.cmake).
import { LIBRARIES } from "./libraries.js";

const all = new Map(); // name → the promise of what its script makes

export const hasLibrary = (name) => LIBRARIES.has(name);

/** The object that a script calls `global`; `style`: it has a style sheet, too. Loaded when it is needed for the first time. */
export function library(path, global, style) {
  if (!all.has(path))
    all.set(
      path,
      new Promise((done, failed) => {
        if (style) document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: `${path}.css` }));
        const script = Object.assign(document.createElement("script"), { src: `${path}.js` });
        script.onload = () => done(window[global]);
        script.onerror = () => failed(new Error(`${path}.js was not loaded`));
        document.head.append(script);
      }),
    );
  return all.get(path);
}
