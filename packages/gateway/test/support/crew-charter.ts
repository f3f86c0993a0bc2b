import type { ToolSet } from '@lastcall/core';
import { type Charter, cede, charter, node, spawn, to } from '@lastcall/machines';

/** A boss with two workers, a transition, and a payer whose tool waits for approval. */
export function crewCharter({
  weigh,
  pay,
}: {
  readonly weigh: ToolSet[string];
  readonly pay: ToolSet[string];
}): Charter {
  const worker = node({
    worker: true,
    instructions: 'You are a worker.',
    tools: { weigh },
    transitions: { report: { description: 'Reports.', handler: () => cede('It was weighed.') } },
  });
  const payer = node({ instructions: 'You are the payer.', tools: { pay } });
  const boss = node({
    instructions: 'You are the boss.',
    transitions: {
      hire: { description: 'Hires two.', targets: ['worker'], handler: () => spawn(['worker', 'worker']) },
      settle: { description: 'Settles.', targets: ['payer'], handler: () => to('payer') },
    },
  });
  return charter({ nodes: { boss, worker, payer } });
}
