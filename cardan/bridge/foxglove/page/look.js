// SPDX-License-Identifier: Apache-2.0
// What the bridge sees of the domain, once a second: rates and the use of the processors from one look to the next.

/** {publishers, rates: topic → {hz, bytes}, cpu: pid → percent, memory: pid → bytes, programs: pid → name,
    problems: texts}; `hz` is added to each publisher, `lost` to each subscriber. */
export function compare(before, look) {
  const rates = new Map();
  const cpu = new Map();
  const publishers = look.publishers ?? [];
  const memory = new Map((look.processes ?? []).map((p) => [p.pid, p.memory_bytes]));
  const programs = new Map(publishers.flatMap((p) => [[p.pid, p.program], ...p.subscribers.map((s) => [s.pid, s.program])]));
  const result = { publishers, rates, cpu, memory, programs, problems: look.problems ?? [], isLooked: look.time_ns !== undefined };
  if (!before?.time_ns || look.time_ns <= before.time_ns) return result;
  const seconds = (look.time_ns - before.time_ns) / 1e9;
  const key = (p) => `${p.pid}/${p.serial}/${p.topic}`;
  const old = new Map(before.publishers.map((p) => [key(p), p]));
  for (const p of look.publishers) {
    const was = old.get(key(p)) ?? p;
    p.hz = (p.published - was.published) / seconds;
    const sum = rates.get(p.topic) ?? { hz: 0, bytes: 0 };
    sum.hz += p.hz;
    sum.bytes += (p.bytes - was.bytes) / seconds;
    rates.set(p.topic, sum);
    p.subscribers.forEach((s, i) => {
      const once = was.subscribers[i];
      s.lost = once?.pid === s.pid ? Math.max(0, s.missed - once.missed) / seconds : 0;
    });
  }
  const used = new Map((before.processes ?? []).map((p) => [p.pid, p.cpu_seconds]));
  for (const p of look.processes ?? [])
    if (used.has(p.pid)) cpu.set(p.pid, Math.max(0, ((p.cpu_seconds - used.get(p.pid)) / seconds) * 100));
  return result;
}

/** [name, ns] of each stream's latencies since the last look. */
export function latencies(publishers) {
  const all = [];
  for (const p of publishers)
    for (const s of p.subscribers) {
      const name = `${p.topic}, ${p.program} (${p.pid}) → ${s.program} (${s.pid})`;
      all.push([`${name}, median`, s.recent_p50_ns], [`${name}, 99 %`, s.recent_p99_ns]);
    }
  return all;
}

/** Calls `use(answer)` with what is at `path`, each second while `wanted()`. */
export async function poll(path, wanted, use) {
  try {
    if (!document.hidden && wanted()) use(await (await fetch(path)).json());
  } catch {
    // The socket says that the bridge has gone.
  }
  setTimeout(() => poll(path, wanted, use), 1000);
}
