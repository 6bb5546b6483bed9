// SPDX-License-Identifier: Apache-2.0
#include "tests/checker/litmus_suite.hpp"

namespace cardan::checker {
namespace {

using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;
using Order = std::memory_order;

constexpr Order rlx = memory_order_relaxed, acq = memory_order_acquire, rel = memory_order_release,
                ar = memory_order_acq_rel, sc = memory_order_seq_cst;

// Threads that several tests share.
template <Order S>
void x_then_y(Program& p) {
  store(p.x, Value{1}, rlx);
  store(p.y, Value{1}, S);
}
template <Order L>
void y_then_x(Program& p) {
  p.r[0] = load(p.y, L);
  p.r[1] = load(p.x, rlx);
}
template <Order S, Order L>
void sb_x(Program& p) {
  store(p.x, Value{1}, S);
  p.r[0] = load(p.y, L);
}
template <Order S, Order L>
void sb_y(Program& p) {
  store(p.y, Value{1}, S);
  p.r[1] = load(p.x, L);
}
template <Order A, Order L>
void sb_add_x(Program& p) {
  add(p.x, Value{1}, A);
  p.r[0] = load(p.y, L);
}
template <Order L, Order S>
void lb_x(Program& p) {
  p.r[0] = load(p.x, L);
  store(p.y, Value{1}, S);
}
template <Order L, Order S>
void lb_y(Program& p) {
  p.r[1] = load(p.y, L);
  store(p.x, Value{1}, S);
}
template <Order S>
void write_x(Program& p) {
  store(p.x, Value{1}, S);
}
template <Order S>
void write_y(Program& p) {
  store(p.y, Value{1}, S);
}
template <Order L>
void read_xy(Program& p) {
  p.r[0] = load(p.x, L);
  p.r[1] = load(p.y, L);
}
template <Order L>
void read_yx(Program& p) {
  p.r[2] = load(p.y, L);
  p.r[3] = load(p.x, L);
}
template <Order S>
void x1_y2(Program& p) {
  store(p.x, Value{1}, S);
  store(p.y, Value{2}, S);
}
template <Order S>
void y1_x2(Program& p) {
  store(p.y, Value{1}, S);
  store(p.x, Value{2}, S);
}
template <Order S>
void data_then_y(Program& p) {
  p.data.write(1);
  store(p.y, Value{1}, S);
}
template <Order L>
void y_then_data(Program& p) {
  if (load(p.y, L) == 1) p.r[0] = p.data.read() + 1;
}

}  // namespace

const std::vector<Litmus>& litmus_suite() {
  static const std::vector<Litmus> all = {
      // Message passing
      {"MP relaxed",
       {x_then_y<rlx>, y_then_x<rlx>},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0; },
       Expected::Allowed},
      {"MP release, relaxed",
       {x_then_y<rel>, y_then_x<rlx>},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0; },
       Expected::Allowed},
      {"MP relaxed, acquire",
       {x_then_y<rlx>, y_then_x<acq>},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0; },
       Expected::Allowed},
      {"MP release, acquire",
       {x_then_y<rel>, y_then_x<acq>},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0; },
       Expected::Forbidden},
      {"MP release, acquire: the message arrives",
       {x_then_y<rel>, y_then_x<acq>},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 1; },
       Expected::Allowed},
      {"MP release fence, acquire fence",
       {[](Program& p) {
          store(p.x, Value{1}, rlx);
          Env::release_fence();
          store(p.y, Value{1}, rlx);
        },
        [](Program& p) {
          p.r[0] = load(p.y, rlx);
          Env::acquire_fence();
          p.r[1] = load(p.x, rlx);
        }},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0; },
       Expected::Forbidden},
      {"MP relaxed, acquire fence",
       {x_then_y<rlx>,
        [](Program& p) {
          p.r[0] = load(p.y, rlx);
          Env::acquire_fence();
          p.r[1] = load(p.x, rlx);
        }},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0; },
       Expected::Allowed},
      {"MP release fence after the data only",
       {[](Program& p) {
          Env::release_fence();
          store(p.x, Value{1}, rlx);
          store(p.y, Value{1}, rlx);
        },
        y_then_x<acq>},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0; },
       Expected::Allowed},
      // Plain data
      {"plain MP release, acquire",
       {data_then_y<rel>, y_then_data<acq>},
       [](const Registers& g) { return g.r[0] == 1; },
       Expected::Forbidden},
      {"plain MP relaxed, acquire",
       {data_then_y<rlx>, y_then_data<acq>},
       [](const Registers&) { return false; },
       Expected::Race},
      {"plain MP release, relaxed",
       {data_then_y<rel>, y_then_data<rlx>},
       [](const Registers&) { return false; },
       Expected::Race},
      {"plain read, then release; acquire, then write",
       {[](Program& p) {
          p.r[0] = p.data.read();
          store(p.y, Value{1}, rel);
        },
        [](Program& p) {
          if (load(p.y, acq) == 1) p.data.write(1);
        }},
       [](const Registers& g) { return g.r[0] == 1; },
       Expected::Forbidden},
      {"plain read, then relaxed; acquire, then write",
       {[](Program& p) {
          p.r[0] = p.data.read();
          store(p.y, Value{1}, rlx);
        },
        [](Program& p) {
          if (load(p.y, acq) == 1) p.data.write(1);
        }},
       [](const Registers&) { return false; },
       Expected::Race},
      // Store buffering
      {"SB seq_cst",
       {sb_x<sc, sc>, sb_y<sc, sc>},
       [](const Registers& g) { return g.r[0] == 0 && g.r[1] == 0; },
       Expected::Forbidden},
      {"SB release, acquire",
       {sb_x<rel, acq>, sb_y<rel, acq>},
       [](const Registers& g) { return g.r[0] == 0 && g.r[1] == 0; },
       Expected::Allowed},
      {"SB one store release",
       {sb_x<rel, sc>, sb_y<sc, sc>},
       [](const Registers& g) { return g.r[0] == 0 && g.r[1] == 0; },
       Expected::Allowed},
      {"SB one load acquire",
       {sb_x<sc, acq>, sb_y<sc, sc>},
       [](const Registers& g) { return g.r[0] == 0 && g.r[1] == 0; },
       Expected::Allowed},
      {"SB one side adds seq_cst",
       {sb_add_x<sc, sc>, sb_y<sc, sc>},
       [](const Registers& g) { return g.r[0] == 0 && g.r[1] == 0; },
       Expected::Forbidden},
      {"SB one side adds acq_rel",
       {sb_add_x<ar, sc>, sb_y<sc, sc>},
       [](const Registers& g) { return g.r[0] == 0 && g.r[1] == 0; },
       Expected::Allowed},
      // Load buffering
      {"LB relaxed",
       {lb_x<rlx, rlx>, lb_y<rlx, rlx>},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 1; },
       Expected::NotCovered},
      {"LB acquire, release",
       {lb_x<acq, rel>, lb_y<acq, rel>},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 1; },
       Expected::Forbidden},
      // Independent reads of independent writes
      {"IRIW seq_cst",
       {write_x<sc>, write_y<sc>, read_xy<sc>, read_yx<sc>},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0 && g.r[2] == 1 && g.r[3] == 0; },
       Expected::Forbidden},
      {"IRIW release, acquire",
       {write_x<rel>, write_y<rel>, read_xy<acq>, read_yx<acq>},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0 && g.r[2] == 1 && g.r[3] == 0; },
       Expected::Allowed},
      // Coherence of one word, whatever the order
      {"CoRR relaxed",
       {[](Program& p) {
          store(p.x, Value{1}, rlx);
          store(p.x, Value{2}, rlx);
        },
        [](Program& p) {
          p.r[0] = load(p.x, rlx);
          p.r[1] = load(p.x, rlx);
        }},
       [](const Registers& g) { return g.r[1] < g.r[0]; },
       Expected::Forbidden},
      {"CoRR two writers, two readers",
       {write_x<rlx>, [](Program& p) { store(p.x, Value{2}, rlx); },
        [](Program& p) {
          p.r[0] = load(p.x, rlx);
          p.r[1] = load(p.x, rlx);
        },
        [](Program& p) {
          p.r[2] = load(p.x, rlx);
          p.r[3] = load(p.x, rlx);
        }},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 2 && g.r[2] == 2 && g.r[3] == 1; },
       Expected::Forbidden},
      {"CoWR",
       {[](Program& p) {
          store(p.x, Value{1}, rlx);
          p.r[0] = load(p.x, rlx);
        },
        [](Program& p) { store(p.x, Value{2}, rlx); }},
       [](const Registers& g) { return g.r[0] == 2 && g.final_x == 1; },
       Expected::Forbidden},
      {"CoRW",
       {[](Program& p) {
          p.r[0] = load(p.x, rlx);
          store(p.x, Value{1}, rlx);
        },
        [](Program& p) { store(p.x, Value{2}, rlx); }},
       [](const Registers& g) { return g.r[0] == 2 && g.final_x == 2; },
       Expected::Forbidden},
      {"CoWW",
       {[](Program& p) {
         store(p.x, Value{1}, rlx);
         store(p.x, Value{2}, rlx);
       }},
       [](const Registers& g) { return g.final_x == 1; },
       Expected::Forbidden},
      // Stores against the order of other words
      {"2+2W relaxed",
       {x1_y2<rlx>, y1_x2<rlx>},
       [](const Registers& g) { return g.final_x == 1 && g.final_y == 1; },
       Expected::Allowed},
      {"2+2W release",
       {x1_y2<rel>, y1_x2<rel>},
       [](const Registers& g) { return g.final_x == 1 && g.final_y == 1; },
       Expected::Allowed},
      {"2+2W seq_cst",
       {x1_y2<sc>, y1_x2<sc>},
       [](const Registers& g) { return g.final_x == 1 && g.final_y == 1; },
       Expected::Forbidden},
      {"R seq_cst",
       {[](Program& p) {
          store(p.x, Value{1}, sc);
          store(p.y, Value{1}, sc);
        },
        [](Program& p) {
          store(p.y, Value{2}, sc);
          p.r[0] = load(p.x, sc);
        }},
       [](const Registers& g) { return g.final_y == 2 && g.r[0] == 0; },
       Expected::Forbidden},
      {"R release, acquire",
       {[](Program& p) {
          store(p.x, Value{1}, rel);
          store(p.y, Value{1}, rel);
        },
        [](Program& p) {
          store(p.y, Value{2}, rel);
          p.r[0] = load(p.x, acq);
        }},
       [](const Registers& g) { return g.final_y == 2 && g.r[0] == 0; },
       Expected::Allowed},
      {"S relaxed",
       {[](Program& p) {
          store(p.x, Value{2}, rlx);
          store(p.y, Value{1}, rlx);
        },
        [](Program& p) {
          p.r[0] = load(p.y, rlx);
          store(p.x, Value{1}, rlx);
        }},
       [](const Registers& g) { return g.r[0] == 1 && g.final_x == 2; },
       Expected::Allowed},
      {"S release, acquire",
       {[](Program& p) {
          store(p.x, Value{2}, rlx);
          store(p.y, Value{1}, rel);
        },
        [](Program& p) {
          p.r[0] = load(p.y, acq);
          store(p.x, Value{1}, rlx);
        }},
       [](const Registers& g) { return g.r[0] == 1 && g.final_x == 2; },
       Expected::Forbidden},
      // Happens-before passes on
      {"ISA2 release, acquire",
       {x_then_y<rel>,
        [](Program& p) {
          if (load(p.y, acq) == 1) store(p.z, Value{1}, rel);
        },
        [](Program& p) {
          p.r[0] = load(p.z, acq);
          p.r[1] = load(p.x, rlx);
        }},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0; },
       Expected::Forbidden},
      {"ISA2 relaxed in the middle",
       {x_then_y<rel>,
        [](Program& p) {
          if (load(p.y, rlx) == 1) store(p.z, Value{1}, rel);
        },
        [](Program& p) {
          p.r[0] = load(p.z, acq);
          p.r[1] = load(p.x, rlx);
        }},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0; },
       Expected::Allowed},
      // Release sequences
      {"release sequence: a relaxed add of another thread continues it",
       {x_then_y<rel>, [](Program& p) { add(p.y, Value{1}, rlx); }, y_then_x<acq>},
       [](const Registers& g) { return g.r[0] == 2 && g.r[1] == 0; },
       Expected::Forbidden},
      {"release sequence: a store of another thread ends it",
       {x_then_y<rel>, [](Program& p) { store(p.y, Value{2}, rlx); }, y_then_x<acq>},
       [](const Registers& g) { return g.r[0] == 2 && g.r[1] == 0; },
       Expected::Allowed},
      {"release sequence: a store of the same thread ends it (C++20)",
       {[](Program& p) {
          store(p.x, Value{1}, rlx);
          store(p.y, Value{1}, rel);
          store(p.y, Value{2}, rlx);
        },
        y_then_x<acq>},
       [](const Registers& g) { return g.r[0] == 2 && g.r[1] == 0; },
       Expected::Allowed},
      // Read-modify-writes
      {"two adds, one lost",
       {[](Program& p) { add(p.x, Value{1}, rlx); }, [](Program& p) { add(p.x, Value{1}, rlx); }},
       [](const Registers& g) { return g.final_x != 2; },
       Expected::Forbidden},
      {"two exchanges of one value succeed",
       {[](Program& p) {
          Value old = 0;
          p.r[0] = exchange_if(p.x, old, Value{1}, rlx);
        },
        [](Program& p) {
          Value old = 0;
          p.r[1] = exchange_if(p.x, old, Value{2}, rlx);
        }},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 1; },
       Expected::Forbidden},
      {"both exchanges fail",
       {[](Program& p) {
          Value old = 0;
          p.r[0] = exchange_if(p.x, old, Value{1}, rlx);
        },
        [](Program& p) {
          Value old = 0;
          p.r[1] = exchange_if(p.x, old, Value{2}, rlx);
        }},
       [](const Registers& g) { return g.r[0] == 0 && g.r[1] == 0; },
       Expected::Forbidden},
      {"an exchange fails by a stale value",
       {[](Program& p) {
          store(p.x, Value{1}, rlx);
          store(p.x, Value{2}, rlx);
          store(p.y, Value{1}, rlx);
        },
        [](Program& p) {
          p.r[0] = load(p.y, rlx);
          Value old = 2;
          p.r[1] = exchange_if(p.x, old, Value{3}, rlx) ? 9 : old;
        }},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0; },
       Expected::Allowed},
      // Where C++20's S is weaker than an interleaving
      {"seq_cst store, relaxed store; relaxed load, seq_cst load",
       {[](Program& p) {
          store(p.y, Value{1}, sc);
          store(p.x, Value{1}, rlx);
        },
        [](Program& p) {
          p.r[0] = load(p.x, rlx);
          p.r[1] = load(p.y, sc);
        }},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0; },
       Expected::Allowed},
      {"Z6.U (allowed since C++20)",
       {[](Program& p) {
          store(p.x, Value{1}, sc);
          store(p.y, Value{1}, rel);
        },
        [](Program& p) {
          p.r[0] = add(p.y, Value{1}, sc);
          p.r[1] = load(p.y, rlx);
        },
        [](Program& p) {
          store(p.y, Value{3}, sc);
          p.r[2] = load(p.x, sc);
        }},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 3 && g.r[2] == 0; },
       Expected::Allowed},
      {"a seq_cst load passes over an older seq_cst store",
       {[](Program& p) {
          store(p.x, Value{1}, sc);
          store(p.y, Value{1}, sc);
        },
        [](Program& p) {
          p.r[0] = load(p.y, sc);
          p.r[1] = load(p.x, sc);
        }},
       [](const Registers& g) { return g.r[0] == 1 && g.r[1] == 0; },
       Expected::Forbidden},
  };
  return all;
}

}  // namespace cardan::checker
