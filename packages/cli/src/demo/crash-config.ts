import { tool } from '@lastcall/core';
import { type ConfigInput, defineConfig } from '@lastcall/gateway';
import { z } from 'zod';

/** The gateway that the demo kills: one agent that pays invoices at the bank. */
export function crashConfig(bankUrl: string): ConfigInput {
  const pay_invoice = tool({
    description: 'Pays an invoice at the bank.',
    inputSchema: z.object({ invoice: z.string() }),
    // The bank does not pay the same key twice, so the call may run again if its outcome is unknown.
    idempotent: true,
    async execute({ invoice }, { idempotencyKey: key }) {
      const body = JSON.stringify({ key, invoice, euros: 40 });
      const response = await fetch(bankUrl, { method: 'POST', body });
      const { euros, receipt } = (await response.json()) as { euros: number; receipt: string };
      return { invoice, euros, receipt };
    },
  });
  return defineConfig({
    agents: [{ name: 'Clerk', instructions: 'You pay invoices with pay_invoice.', tools: ['pay_invoice'] }],
    tools: { pay_invoice },
    spaces: [{ name: 'Office', agents: ['Clerk'], people: [{ name: 'Ada' }] }],
    model: 'rehearsal',
    logLevel: 'silent',
  });
}
