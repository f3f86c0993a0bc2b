// The worker of one engine in a separate process: engine-child.ts <module> <name of the engine>.
import { setTimeout as sleep } from 'node:timers/promises';
import { clockMs, ownProcessorMs } from './clock.ts';
import type { Engine, EngineModule, EngineSettings } from './engine.ts';
import { serveCalls } from './ipc.ts';
import { loadEngine } from './load-engine.ts';

const module_: EngineModule = await loadEngine(process.argv[2] ?? '', process.argv[3] ?? '');
let engine: Engine;
/** When the tool ran, by run. */
let ranAt = new Map<string, number[]>();
/** How long the model takes. */
let modelMs = 0;

async function modelAnswers(): Promise<void> {
  if (modelMs > 0) await sleep(modelMs);
}

function tool(run: string): number {
  const times = ranAt.get(run);
  if (times === undefined) ranAt.set(run, [clockMs()]);
  else times.push(clockMs());
  return 3;
}

serveCalls({
  describe: () => ({ name: module_.name, of: module_.of, guarantee: module_.guarantee }),
  async open(settings: EngineSettings) {
    engine = await module_.open({ ...settings, modelAnswers, tool });
    return { address: engine.address, store: engine.store };
  },
  async runAll(runs: readonly string[]) {
    ranAt = new Map();
    await engine.runAll(runs);
    return runs.map((run) => ranAt.get(run) ?? []);
  },
  sleepers: (count: number) => engine.sleepers?.(count),
  waiters: (count: number) => (engine.waiters ?? engine.sleepers)?.(count),
  /** When the tool ran since the last request, in any run. */
  ranAt() {
    const times = [...ranAt.values()].flat();
    ranAt = new Map();
    return times;
  },
  setModelMs(ms: number) {
    modelMs = ms;
  },
  processorMs: ownProcessorMs,
  close: () => engine.close(),
});
