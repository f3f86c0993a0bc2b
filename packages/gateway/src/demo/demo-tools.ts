import { setTimeout as sleep } from 'node:timers/promises';
import { slice, tool } from '@lastcall/core';
import { z } from 'zod';
import type { ToolEntries } from '../config/registered-tool.ts';
import type { ToolConfigInput } from '../config/tool-config.ts';
import type { DemoBank } from './demo-bank.ts';

type ToolData = Omit<ToolConfigInput, 'name'>;

/** Input of the tools that ask people. */
const QUESTION = {
  type: 'object',
  properties: { question: { type: 'string' } },
  required: ['question'],
  additionalProperties: false,
};

const FORECASTS = ['sunny', 'cloudy', 'rainy', 'windy'] as const;

const fetchWeather = tool({
  description: 'The weather in a city today. A demonstration: the same city always has the same weather.',
  inputSchema: z.object({ city: z.string().min(1).max(100) }),
  effects: 'none',
  execute: ({ city }) => {
    const sum = [...city.toLowerCase()].reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0);
    return { city, forecast: FORECASTS[sum % FORECASTS.length], celsius: 10 + (sum % 20) };
  },
});

/** A person confirms or declines before something is booked. */
const confirmBooking: ToolData = {
  description: 'Asks the people in the space to confirm a booking. The answer comes later.',
  executionType: 'space',
  inputSchema: QUESTION,
  resultSchema: {
    type: 'object',
    properties: { confirmed: { type: 'boolean' } },
    required: ['confirmed'],
    additionalProperties: false,
  },
  display: { customUI: 'confirmAction' },
  expiresInMs: 24 * 3_600_000,
};

const bookHotel = tool({
  description: 'Books a hotel room. A demonstration: nothing is booked anywhere.',
  inputSchema: z.object({ city: z.string().min(1).max(100), nights: z.int().min(1).max(30) }),
  execute: ({ city, nights }, { idempotencyKey }) => ({
    city,
    nights,
    reference: idempotencyKey.slice(-8).toUpperCase(),
  }),
});

const fileReport = tool({
  description: 'Files a report. Its text is final.',
  inputSchema: z.object({ title: z.string().min(1).max(200), body: z.string().min(1).max(10_000) }),
  terminal: true,
  execute: ({ title, body }) => `${title}\n\n${body}`,
});

/** A payment is as slow as with a slow bank, so that there is time to see it run and to crash the gateway meanwhile. */
const PAYMENT_SECONDS = 5;

/** Each call waits until a person approves it, perhaps with another amount. */
const payInvoice = (bank: DemoBank) =>
  tool({
    description: 'Pays an invoice. A demonstration: no money moves.',
    inputSchema: z.object({
      invoice: z.string().min(1).max(40).describe('The number on the invoice'),
      amount: z.number().positive().max(10_000).describe('What is paid, at most 10,000'),
      currency: z.enum(['EUR', 'USD', 'GBP']),
    }),
    approval: true,
    // After a crash the call runs again with the same key, by which a bank recognises a payment that it has already made.
    idempotent: true,
    async execute({ invoice, amount, currency }, { idempotencyKey, progress, abortSignal }) {
      const { entries, requests } = bank.pay(idempotencyKey);
      for (let second = 1; second <= PAYMENT_SECONDS; second++) {
        progress({ second, of: PAYMENT_SECONDS });
        await sleep(1_000, undefined, { signal: abortSignal });
      }
      const receipt = { invoice, paid: `${amount} ${currency}`, reference: idempotencyKey.slice(-8).toUpperCase() };
      if (requests === 1) return receipt;
      return { ...receipt, bank: `Paid once: asked ${requests} times with one key, ${entries} entry in its book.` };
    },
  });

const RECEIPTS = ['Taxi 18.40', 'Lunch 23.10', 'Train (the total is missing)', 'Hotel 140.00'] as const;

interface ReceiptImported {
  readonly type: 'ReceiptImported';
  readonly month: string;
  readonly receipt: string;
}

const ledger = slice<readonly string[]>('ledger', {
  initial: [],
  on: { ReceiptImported: (lines, { month, receipt }: ReceiptImported) => [...lines, `${month}: ${receipt}`] },
});

/** Always fails half-way: the events that it dispatched until then are discarded. */
const importReceipts = tool({
  description: 'Imports the receipts of a month into the ledger. A demonstration: the third receipt cannot be read.',
  inputSchema: z.object({ month: z.string().min(1).max(20) }),
  effects: 'session',
  slices: [ledger],
  async execute({ month }, { session, progress, abortSignal }) {
    for (const [index, receipt] of RECEIPTS.entries()) {
      progress({ receipt: index + 1, of: RECEIPTS.length });
      await sleep(600, undefined, { signal: abortSignal });
      const [, total] = /(\d+\.\d+)$/.exec(receipt) ?? [];
      if (total === undefined) throw new Error(`Receipt ${index + 1} of ${RECEIPTS.length} has no total: ${receipt}`);
      session.dispatch<ReceiptImported>({ type: 'ReceiptImported', month, receipt });
    }
    return `${RECEIPTS.length} receipts of ${month}`;
  },
});

/** Expires soon enough to watch it. */
const chooseRate: ToolData = {
  description: 'Asks the people in the space which exchange rate to take. The offer is valid for one minute.',
  executionType: 'space',
  inputSchema: QUESTION,
  resultSchema: { type: 'string', enum: ['1.08 now', '1.09 for a week', '1.11 for a month'] },
  display: { customUI: 'chooseOne' },
  expiresInMs: 60_000,
};

/** A form made from its schema. */
const addSupplier: ToolData = {
  description: 'Asks the people in the space for the details of a new supplier.',
  executionType: 'space',
  inputSchema: QUESTION,
  resultSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 80, description: 'As it stands on invoices' },
      country: { type: 'string', enum: ['Germany', 'Japan', 'Norway'] },
      payWithinDays: { type: 'integer', minimum: 1, maximum: 90, default: 30 },
      since: { type: 'string', format: 'date' },
      contact: {
        type: 'object',
        properties: { name: { type: 'string' }, email: { type: 'string', format: 'email' } },
        required: ['email'],
        additionalProperties: false,
      },
      isTrusted: { type: 'boolean', description: 'Invoices below 100 need no approval' },
    },
    required: ['name', 'country', 'payWithinDays'],
    additionalProperties: false,
  },
  expiresInMs: 24 * 3_600_000,
};

/** Its image comes from the demo's own model. */
const drawPostcard: ToolData = {
  description: 'Draws a postcard, a picture of a place. A demonstration: the picture is made of a sun and hills.',
  executionType: 'gateway',
  execution: { provider: 'demo', model: 'postcard' },
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string', minLength: 1, maxLength: 100 } },
    required: ['city'],
    additionalProperties: false,
  },
  visible: true,
};

/** The tools of the demo, by name. */
export const demoTools = (bank: DemoBank): ToolEntries => ({
  fetch_weather: fetchWeather,
  draw_postcard: drawPostcard,
  confirm_booking: confirmBooking,
  book_hotel: bookHotel,
  file_report: fileReport,
  pay_invoice: payInvoice(bank),
  import_receipts: importReceipts,
  choose_rate: chooseRate,
  add_supplier: addSupplier,
});
