// A client of one engine in a separate process: sender-child.ts <module> <name of the engine>.
import { clockMs, ownProcessorMs } from './clock.ts';
import type { Sender } from './engine.ts';
import { serveCalls } from './ipc.ts';
import { loadEngine } from './load-engine.ts';

const { connect } = await loadEngine(process.argv[2] ?? '', process.argv[3] ?? '');
let sender: Sender;

serveCalls({
  async connect(address: string) {
    sender = await connect(address);
  },
  /** Returns when it began to send. */
  async send(agent: string, number: number) {
    const at = clockMs();
    await sender.send(agent, number);
    return at;
  },
  /** Sends a message to every agent, then the next to every agent, with `atOnce` requests at a time. Returns when it began. */
  async post({ agents, each, atOnce }: { agents: readonly string[]; each: number; atOnce: number }) {
    const waiting = rounds(agents, each);
    const startedAt = clockMs();
    const sendRest = async (): Promise<void> => {
      for (const { agent, number } of waiting) await sender.send(agent, number);
    };
    await Promise.all(Array.from({ length: atOnce }, sendRest));
    return startedAt;
  },
  processorMs: ownProcessorMs,
  close: () => sender.close(),
});

function* rounds(agents: readonly string[], each: number): Generator<{ agent: string; number: number }> {
  for (let number = 0; number < each; number++) for (const agent of agents) yield { agent, number };
}
