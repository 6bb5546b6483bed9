// SPDX-License-Identifier: Apache-2.0
//! Finds libcardan: in CARDAN_LIB_DIR (a build tree's `lib`), else with pkg-config (an installed Cardan).
use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=CARDAN_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    let folder = match env::var("CARDAN_LIB_DIR") {
        Ok(folder) => folder,
        Err(_) => {
            let output = Command::new("pkg-config").args(["--variable=libdir", "cardan-c"]).output();
            match output {
                Ok(done) if done.status.success() => String::from_utf8_lossy(&done.stdout).trim().to_string(),
                _ => panic!("libcardan was not found: install Cardan, or set CARDAN_LIB_DIR to build/release/lib"),
            }
        }
    };
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib=dylib=cardan");
    // Its own tests find it without LD_LIBRARY_PATH; a program sets its own path.
    println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    println!("cargo:libdir={folder}");
}
