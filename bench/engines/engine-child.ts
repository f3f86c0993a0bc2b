// The worker of one engine in a process of its own: engine-child.ts <module> <name of the engine>.
import { clockMs, ownProcessorMs } from './clock.ts';
import type { Engine, EngineModule, EnginePlace } from './engine.ts';
import { serveCalls } from './ipc.ts';
import { loadEngine } from './load-engine.ts';

const module_: EngineModule = await loadEngine(process.argv[2] ?? '', process.argv[3] ?? '');
let engine: Engine;
/** When the tool ran, by run. */
let ranAt = new Map<string, number[]>();

function tool(run: string): number {
  const times = ranAt.get(run);
  if (times === undefined) ranAt.set(run, [clockMs()]);
  else times.push(clockMs());
  return 3;
}

serveCalls({
  describe: () => ({ name: module_.name, of: module_.of, guarantee: module_.guarantee }),
  async open(place: Omit<EnginePlace, 'tool'>) {
    engine = await module_.open({ ...place, tool });
    return { address: engine.address, store: engine.store };
  },
  async runAll(runs: readonly string[]) {
    ranAt = new Map();
    await engine.runAll(runs);
    return runs.map((run) => ranAt.get(run) ?? []);
  },
  sleepers: (count: number) => engine.sleepers?.(count),
  waiters: (count: number) => (engine.waiters ?? engine.sleepers)?.(count),
  /** When the tool ran since the last time, whoever ran it. */
  ranAt() {
    const times = [...ranAt.values()].flat();
    ranAt = new Map();
    return times;
  },
  processorMs: ownProcessorMs,
  close: () => engine.close(),
});
