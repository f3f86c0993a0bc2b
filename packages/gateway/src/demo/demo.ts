import { type ConfigInput, defineConfig } from '../config/config.ts';
import { openDemoBank } from './demo-bank.ts';
import { demoPictureModel } from './demo-picture.ts';
import { demoTools } from './demo-tools.ts';

interface DemoOptions {
  readonly canCrash?: boolean;
  /** Where the demo's bank keeps its book. It must survive the process if the process can be crashed. */
  readonly bankFile?: string | undefined;
}

/**
 * The configuration of a gateway without a configuration file: three agents in three spaces, with tools of each kind. Each space
 * offers sentences that make its agent act, also without a model. With `canCrash` a description explains how to crash the
 * gateway.
 */
export function demoConfig({ canCrash = false, bankFile }: DemoOptions = {}): ConfigInput {
  return defineConfig({
    agents: [CONCIERGE, CLERK, ANALYST],
    tools: demoTools(openDemoBank(bankFile)),
    imageModels: { 'demo/postcard': demoPictureModel },
    spaces: [
      {
        name: 'Travel desk',
        description: 'Ada talks to the concierge here.',
        agents: ['Concierge'],
        people: [ADA],
        metadata: {
          suggestions: [
            'What is the weather in Tokyo?',
            'Draw a postcard of Tokyo.',
            'Book a hotel in Tokyo for 3 nights, please.',
            'File a report on Tokyo.',
          ],
        },
      },
      {
        name: 'Accounts',
        description: `The clerk asks for approval before it pays.${canCrash ? HOW_TO_CRASH : ''}`,
        agents: ['Clerk'],
        people: [ADA, { name: 'Ben', externalId: 'demo:ben' }],
        metadata: {
          suggestions: [
            'Pay invoice 4711, amount 120.',
            'Import the receipts of October.',
            'Which exchange rate do we take?',
            'Add a supplier.',
          ],
        },
      },
      {
        name: 'Research',
        description: 'The analyst files a report on any question.',
        agents: ['Analyst'],
        people: [ADA],
        metadata: { suggestions: ['Report on the weather in Tokyo.', 'Report on Oslo.', 'Report on hotel prices.'] },
      },
    ],
  });
}

/** A payment takes a few seconds, so there is time to crash. */
const HOW_TO_CRASH = ' While it pays, press Ctrl K and type "crash": nothing is lost, nothing is paid twice.';

const ADA = { name: 'Ada', externalId: 'demo:ada' };

const CONCIERGE = {
  name: 'Concierge',
  description: 'Answers questions about the weather, draws postcards, books hotels and files reports.',
  instructions:
    'You are the concierge of a small travel desk. Answer questions about the weather with fetch_weather, and draw with draw_postcard. Before you book a hotel with book_hotel, ask for confirmation with confirm_booking and wait for the answer. When a person asks for a report, file it with file_report.',
  tools: ['fetch_weather', 'draw_postcard', 'confirm_booking', 'book_hotel', 'file_report'],
};

const CLERK = {
  name: 'Clerk',
  description: 'Pays invoices once a person approves, imports receipts, asks for exchange rates and suppliers.',
  instructions:
    'You are the clerk of a small company. Pay invoices with pay_invoice: a person approves each payment. Import receipts with import_receipts, and say what went wrong if it fails. When an exchange rate is needed, ask for it with choose_rate; for a new supplier, ask with add_supplier. Wait for the answers.',
  tools: ['pay_invoice', 'import_receipts', 'choose_rate', 'add_supplier'],
};

const ANALYST = {
  name: 'Analyst',
  description: 'Answers any question by filing a report.',
  instructions:
    'You are an analyst. Answer the question, with fetch_weather where it helps. End every task with file_report.',
  tools: ['fetch_weather', 'file_report'],
  terminating: { toolIds: ['file_report'] },
};
