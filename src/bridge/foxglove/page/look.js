// SPDX-License-Identifier: Apache-2.0
// The bridge's view of the domain, once a second: rates and the use of the processors from one look to the next.

/** {publishers, rates: topic → {hz, bytes}, topics: topic → its card's figures, cpu: pid → percent, memory: pid → bytes,
    programs: pid → name, problems: texts, services}; `hz` is added to each publisher and each service, `lost` to each
    subscriber. */
export function compare(before, look) {
  const rates = new Map();
  const cpu = new Map();
  const publishers = look.publishers ?? [];
  const memory = new Map((look.processes ?? []).map((p) => [p.pid, p.memory_bytes]));
  const programs = new Map(publishers.flatMap((p) => [[p.pid, p.program], ...p.subscribers.map((s) => [s.pid, s.program])]));
  const result = { publishers, rates, topics: new Map(), cpu, memory, programs, problems: look.problems ?? [], services: look.services ?? [], isLooked: look.time_ns !== undefined };
  if (!before?.time_ns || look.time_ns <= before.time_ns) return { ...result, topics: figuresOf(publishers, rates) };
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
  const answered = new Map((before.services ?? []).map((s) => [`${s.pid}/${s.serial}`, s.answered]));
  for (const s of result.services) s.hz = Math.max(0, s.answered - (answered.get(`${s.pid}/${s.serial}`) ?? s.answered)) / seconds;
  const used = new Map((before.processes ?? []).map((p) => [p.pid, p.cpu_seconds]));
  for (const p of look.processes ?? [])
    if (used.has(p.pid)) cpu.set(p.pid, Math.max(0, ((p.cpu_seconds - used.get(p.pid)) / seconds) * 100));
  return { ...result, topics: figuresOf(publishers, rates) };
}

/** topic → {hz, bytes: a second; size: of a message; p50, p99: ns, of the slowest reader, −1: none; age50, age99: the
    same of the age of the oldest publication that a message rests on; lost: a second; missed: in all; from: names of
    programs; readers: their number}. */
function figuresOf(publishers, rates) {
  const all = new Map();
  for (const p of publishers) {
    const was = all.get(p.topic);
    const one = was ?? { hz: -1, bytes: -1, size: -1, p50: -1, p99: -1, age50: -1, age99: -1, lost: 0, missed: 0, from: [], readers: 0, messages: 0, total: 0, ...rates.get(p.topic) };
    one.messages += p.published;
    one.total += p.bytes;
    one.size = one.messages > 0 ? one.total / one.messages : -1;
    if (!one.from.includes(p.program)) one.from.push(p.program);
    for (const s of p.subscribers) {
      const isNew = s.recent_p50_ns >= 0;
      one.readers += 1;
      one.p50 = Math.max(one.p50, isNew ? s.recent_p50_ns : s.p50_ns);
      one.p99 = Math.max(one.p99, isNew ? s.recent_p99_ns : s.p99_ns);
      one.age50 = Math.max(one.age50, s.age_p50_ns ?? -1);
      one.age99 = Math.max(one.age99, s.age_p99_ns ?? -1);
      one.lost += s.lost ?? 0;
      one.missed += s.missed;
    }
    all.set(p.topic, one);
  }
  return all;
}

/** [name, ns] of each stream's latencies since the last look. A process is called by its program: its number would be
    another one after a restart. Of several with the same name the slowest counts. */
export function latencies(publishers) {
  const all = new Map();
  const add = (name, ns) => all.set(name, Math.max(all.get(name) ?? -1, ns));
  for (const p of publishers)
    for (const s of p.subscribers) {
      const name = `${p.topic}, ${p.program} → ${s.program}`;
      add(`${name}, median`, s.recent_p50_ns);
      add(`${name}, 99 %`, s.recent_p99_ns);
    }
  return [...all];
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
