import { tool } from '@lastcall/core';
import { defineAgent } from '@lastcall/gateway';
import { cede, charter, node, spawn, suspend, to } from '@lastcall/machines';
import { z } from 'zod';

/** The external effects of the tools of the desk. */
export const world: string[] = [];

const look_up = tool({
  description: 'Looks an order up.',
  inputSchema: z.object({ order: z.string() }),
  effects: 'none',
  execute: ({ order }) => `Order ${order} cost 20 €.`,
});

const pay_back = tool({
  description: 'Pays money back.',
  inputSchema: z.object({ order: z.string() }),
  approval: true,
  execute({ order }) {
    world.push(`paid back ${order}`);
    return `Paid back ${order}.`;
  },
});

const check = node({
  worker: true,
  instructions: 'Check one thing.',
  tools: { look_up },
  transitions: {
    report: {
      description: 'Reports what was found.',
      inputSchema: z.object({ found: z.string() }),
      handler: ({ found }: { found: string }) => cede(found),
    },
  },
});

const refund = node({
  instructions: 'Refund the customer.',
  state: z.object({ order: z.string() }),
  tools: { pay_back },
  commands: {
    close: {
      description: 'Closes the case.',
      inputSchema: z.object({ note: z.string() }),
      execute: ({ note }: { note: string }, ctx) => {
        ctx.updateState({ order: `closed: ${note}` });
        return note;
      },
    },
  },
});

const triage = node({
  instructions: 'Find out what the customer needs.',
  tools: { look_up },
  transitions: {
    refund: {
      description: 'Goes on with a refund.',
      inputSchema: z.object({ order: z.string() }),
      targets: ['refund'],
      handler: ({ order }: { order: string }) => to('refund', { order }),
    },
    check_both: {
      description: 'Lets two workers check.',
      inputSchema: z.object({}),
      targets: ['check'],
      handler: () => spawn(['check', 'check']),
    },
    ask: {
      description: 'Asks a person.',
      inputSchema: z.object({ question: z.string() }),
      handler: ({ question }: { question: string }) => suspend(question),
    },
  },
});

export const desk = defineAgent({ machine: charter({ nodes: { triage, refund, check } }) });
