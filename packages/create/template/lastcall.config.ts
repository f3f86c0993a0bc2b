import { defineConfig } from '@lastcall/gateway';
import { look_up_order, refund_order } from './tools.ts';

export default defineConfig({
  agents: [
    {
      name: 'Clerk',
      description: 'Answers questions about orders and pays them back.',
      instructions:
        'You are the clerk of a small shop. Look up an order with look_up_order before you say anything about it. Pay an order back with refund_order if you are asked to.',
      tools: ['look_up_order', 'refund_order'],
    },
  ],
  tools: { look_up_order, refund_order },
  spaces: [{ name: 'Shop', agents: ['Clerk'], people: [{ name: 'Ada', externalId: 'ada' }] }],
});
