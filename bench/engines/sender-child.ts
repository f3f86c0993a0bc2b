// A client of one engine in a process of its own: sender-child.ts <module> <name of the engine>.
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
  /** Gives when it began to send. */
  async send(agent: string, number: number) {
    const at = clockMs();
    await sender.send(agent, number);
    return at;
  },
  /** A message to everybody, then the next to everybody, so many requests at a time. Gives when it began. */
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
