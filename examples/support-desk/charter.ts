// A support desk: triage finds out what the customer needs, refund pays back if a person approves it, and code writes the exact text of the
// receipt. main.ts runs it with the library, and agent.ts as an agent of a gateway.
import { cede, charter, node, pack, spawn, to } from '@lastcall/machines';
import { z } from 'zod';

/** Every node that uses this pack sees the same customer. */
const customer = pack({
  name: 'customer',
  state: z.object({ name: z.string(), orders: z.record(z.string(), z.number()) }),
  initialState: { name: 'Ada', orders: { 'A-17': 42 } },
  instructions: ({ name }) => `The customer is ${name}.`,
});

const refund = node({
  instructions: 'Look the order up, pay it back, and answer with formatReceipt. Go back to triage for anything else.',
  state: z.object({ orderId: z.string(), paid: z.number().optional() }),
  packs: [customer],
  tools: (tool) => ({
    payBack: tool({
      description: 'Pays an order back.',
      inputSchema: z.object({}),
      approval: true,
      effects: 'session',
      execute(_input, ctx) {
        const amount = ctx.pack(customer).orders[ctx.state.orderId];
        if (amount === undefined) throw new Error(`There is no order ${ctx.state.orderId}.`);
        ctx.updateState({ paid: amount });
        return { paid: amount };
      },
    }),
    formatReceipt: tool({
      description: 'The receipt, word for word. It is the answer.',
      inputSchema: z.object({}),
      effects: 'none',
      terminal: true,
      execute(_input, ctx) {
        if (ctx.state.paid === undefined) throw new Error('Nothing was paid back yet: call payBack first.');
        return `Receipt\nOrder ${ctx.state.orderId}: ${ctx.state.paid.toFixed(2)} paid back`;
      },
    }),
  }),
  transitions: {
    close: {
      description: 'The case is closed: hand it back to triage.',
      inputSchema: z.object({ note: z.string() }),
      handler: ({ note }: { note: string }) => cede({ closed: true, note }),
    },
  },
});

const triage = node({
  instructions: 'Find out what the customer needs.',
  state: z.object({ cases: z.number() }),
  initialState: { cases: 0 },
  packs: [customer],
  transitions: (transition) => ({
    refund: transition({
      description: 'Open a refund for an order.',
      inputSchema: z.object({ orderId: z.string() }),
      targets: ['refund'],
      handler({ orderId }, ctx) {
        ctx.updateState({ cases: ctx.state.cases + 1 });
        return spawn('refund', { orderId });
      },
    }),
    retire: { description: 'Close the desk.', targets: ['closed'], handler: () => to('closed') },
  }),
});

const closed = node({ instructions: 'The desk is closed. Say so.' });

export const desk = charter({ nodes: { triage, refund, closed }, packs: [customer] });
