// SPDX-License-Identifier: Apache-2.0
//! Where the program finds libcardan: next to itself as built and as installed, else where it was linked.
fn main() {
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/../lib");
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/../../lib");
    if let Ok(folder) = std::env::var("DEP_CARDAN_LIBDIR") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
