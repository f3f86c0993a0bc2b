import { z } from 'zod';

/** What every contender tells its model. */
export const INSTRUCTIONS =
  'You keep the books of a small shop. Pay invoices, refund payments and remind customers when you are asked to. ' +
  'Look an invoice up before you say what it is about. Never guess an amount. Answer in one sentence, and name the invoice.';

/** A tool that every contender has. */
export interface CostTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  readonly needsApproval?: true;
  run(input: Readonly<Record<string, unknown>>): string;
}

const invoice = z.string().min(1).max(40).describe('The number on the invoice');
const amount = z.number().positive().max(10_000).describe('In euros');

export const TOOLS: readonly CostTool[] = [
  {
    name: 'get_invoice',
    description: 'Looks an invoice up: its customer, its amount and whether it is paid.',
    inputSchema: z.object({ invoice }),
    run: ({ invoice: number }) => `Invoice ${String(number)}: 120 euros, customer Miller, due on 1 November, not paid.`,
  },
  {
    name: 'pay_invoice',
    description: 'Pays an invoice.',
    inputSchema: z.object({ invoice, amount }),
    run: ({ invoice: number, amount: paid }) => `Paid ${String(paid)} euros for invoice ${String(number)}.`,
  },
  {
    name: 'refund_payment',
    description: 'Pays money back to a customer. A person approves each refund.',
    inputSchema: z.object({ invoice, amount, reason: z.string().max(500) }),
    needsApproval: true,
    run: ({ invoice: number, amount: paid }) => `Refunded ${String(paid)} euros for invoice ${String(number)}.`,
  },
  {
    name: 'remind_customer',
    description: 'Sends a customer a reminder of an invoice.',
    inputSchema: z.object({ invoice, text: z.string().max(2_000) }),
    run: ({ invoice: number }) => `A reminder of invoice ${String(number)} was sent.`,
  },
];

/** A reply of the model: a call of a tool, or a text. */
export type Reply = string | { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };

export interface CostTask {
  readonly kind: TaskKind;
  readonly says: string;
  readonly replies: readonly Reply[];
}

type TaskKind = 'question' | 'action' | 'approval' | 'five steps';

const question = (says: string, answer: string): CostTask => ({ kind: 'question', says, replies: [answer] });

const payment = (number: string, paid: number): CostTask => ({
  kind: 'action',
  says: `Pay invoice ${number}, amount ${paid}.`,
  replies: [
    { tool: 'pay_invoice', input: { invoice: number, amount: paid } },
    `I paid invoice ${number}: ${paid} euros.`,
  ],
});

const refund: CostTask = {
  kind: 'approval',
  says: 'Refund 40 on invoice 4711: two of the cups arrived broken.',
  replies: [
    { tool: 'refund_payment', input: { invoice: '4711', amount: 40, reason: 'Two of the cups arrived broken.' } },
    'I refunded 40 euros on invoice 4711.',
  ],
};

const fiveSteps: CostTask = {
  kind: 'five steps',
  says: 'Look at invoices 4712 to 4715, and remind Miller of the oldest one.',
  replies: [
    ...['4712', '4713', '4714', '4715'].map((number) => ({ tool: 'get_invoice', input: { invoice: number } })),
    { tool: 'remind_customer', input: { invoice: '4712', text: 'Invoice 4712 over 120 euros was due on 1 November.' } },
    'All four are open, and I reminded Miller of invoice 4712.',
  ],
};

/** One task of each kind. */
export const SINGLE_TASKS: readonly CostTask[] = [
  question(
    'How do you decide which invoice to pay first?',
    'I pay the invoice that is due first, unless you name one.',
  ),
  payment('4711', 120),
  refund,
  fiveSteps,
];

/** A conversation of ten tasks. */
export const CONVERSATION: readonly CostTask[] = [
  question('Good morning! Which currency do you pay in?', 'Good morning. I pay all invoices in euros.'),
  payment('4711', 120),
  question('Which invoice did you just pay?', 'I paid invoice 4711.'),
  payment('4720', 75),
  refund,
  payment('4721', 310),
  fiveSteps,
  question('Is anything left to do today?', 'Nothing else is due today, except for invoices 4713 to 4715.'),
  payment('4713', 120),
  question('Thank you. When do you start tomorrow?', 'I start as soon as you write to me, about any invoice.'),
];
