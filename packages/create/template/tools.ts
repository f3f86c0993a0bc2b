import { tool } from '@lastcall/core';
import { z } from 'zod';

// Replace this with your database.
const orders = new Map([
  ['A-17', { article: 'lamp', euros: 40 }],
  ['A-18', { article: 'desk', euros: 250 }],
]);

const orderId = z.string().regex(/^[A-Z]-\d+$/);

export const look_up_order = tool({
  description: 'Looks up an order by its id, e.g. A-17.',
  inputSchema: z.object({ orderId }),
  // It changes nothing, so it may run in parallel with other calls, and again after a crash.
  effects: 'none',
  execute: ({ orderId }) => find(orderId),
});

export const refund_order = tool({
  description: 'Pays an order back, once a person has approved it.',
  inputSchema: z.object({ orderId }),
  // A person in the space must approve each call before it runs.
  approval: true,
  // Your bank gets the key with the payment and does not pay the same key twice. So the call may run again after a
  // crash.
  idempotent: true,
  execute: ({ orderId }, { idempotencyKey }) => ({ orderId, paid: find(orderId).euros, receipt: idempotencyKey }),
});

function find(id: string): { article: string; euros: number } {
  const order = orders.get(id);
  // The model reads this message.
  if (order === undefined) throw new Error(`There is no order ${id}.`);
  return order;
}
