import { tool } from '@lastcall/core';
import { z } from 'zod';

/** A tool that needs approval before it pays, and a record of its payments. */
export function payTool() {
  const paid: number[] = [];
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({ amount: z.number() }),
    approval: true,
    execute: ({ amount }) => {
      paid.push(amount);
      return `Paid ${amount}.`;
    },
  });
  return { paid, pay };
}
