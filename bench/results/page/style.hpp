// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cardan::bench {

/// Colours that colour-blind people tell apart (Okabe and Ito; the yellow is left out, which white swallows).
inline constexpr const char* kPageStyle = R"(
:root{color-scheme:light dark;--ground:#fff;--text:#1c1e21;--faint:#5b6068;--rule:#d4d7dc;--panel:#f5f6f8;--good:#00664a;--bad:#a83c00;
--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#b3568e;--s4:#3a3f46;--s5:#b07700;--s6:#2a93c9;--s7:#7a5230}
@media (prefers-color-scheme:dark){:root{--ground:#14161a;--text:#e6e8eb;--faint:#a2a8b1;--rule:#383d45;--panel:#1d2026;--good:#4fd1a5;--bad:#ff9a5c;
--s0:#58a9e0;--s1:#ff8a3d;--s2:#2cc79a;--s3:#e39ac6;--s4:#c3c8d0;--s5:#f0b840;--s6:#8fd0f5;--s7:#cfa27c}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:960px;padding:1.5rem;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.7rem;margin:0 0 .5rem}h2{font-size:1.25rem;margin:2.5rem 0 .75rem;border-bottom:1px solid var(--rule)}h3{font-size:1rem;margin:1.5rem 0 .25rem}
p{margin:.4rem 0}a{color:var(--s0)}nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem}
.faint{color:var(--faint)}.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}
.scroll,.whole{overflow-x:auto}.scroll{max-height:30rem}
table{border-collapse:collapse;font-size:.85rem;width:100%}th,td{padding:.2rem .6rem;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top}
th{color:var(--faint);font-weight:600}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
code{font:.8rem/1.4 ui-monospace,monospace;background:var(--panel);padding:.1rem .3rem;border-radius:3px;overflow-wrap:anywhere}
details{margin:.25rem 0}summary{cursor:pointer;color:var(--faint);font-size:.9rem}
figure{margin:1rem 0 2rem}svg{display:block;width:100%;height:auto;background:var(--panel);border-radius:6px;padding:.5rem}
svg text{fill:var(--text);font:12px system-ui,sans-serif}text.label{text-anchor:end}text.tick,text.axis{text-anchor:middle;fill:var(--faint)}
text.section{font-weight:600}text.side{fill:var(--faint)}
line.grid{stroke:var(--rule)}line.whisker{stroke-width:1.5}line.median{stroke:var(--text);stroke-width:2}
.line{fill:none;stroke-width:2}.d1{stroke-dasharray:7 3}.d2{stroke-dasharray:2 3}.d3{stroke-dasharray:9 3 2 3}
rect.box{fill-opacity:.55}
.s0{stroke:var(--s0)}.s1{stroke:var(--s1)}.s2{stroke:var(--s2)}.s3{stroke:var(--s3)}.s4{stroke:var(--s4)}.s5{stroke:var(--s5)}.s6{stroke:var(--s6)}.s7{stroke:var(--s7)}
.box.s0,.far.s0{fill:var(--s0)}.box.s1,.far.s1{fill:var(--s1)}.box.s2,.far.s2{fill:var(--s2)}.box.s3,.far.s3{fill:var(--s3)}
.box.s4,.far.s4{fill:var(--s4)}.box.s5,.far.s5{fill:var(--s5)}.box.s6,.far.s6{fill:var(--s6)}.box.s7,.far.s7{fill:var(--s7)}
@media (max-width:600px){body{padding:.75rem}.plot{overflow-x:auto}.plot svg{min-width:640px}}
@media print{details{display:none}.scroll{max-height:none}}
)";

}  // namespace cardan::bench
