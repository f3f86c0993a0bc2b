import { type ToolContext, tool } from '@lastcall/core';
import { checkTools, type RegisteredTools } from '../../src/config/registered-tool.ts';
import { acts } from '../processes/tools-config.ts';
import type { Surroundings } from './surroundings.ts';
import { currentProcess } from './virtual-time.ts';

const inputSchema = { type: 'object', properties: { ref: { type: 'string' } }, required: ['ref'] } as const;

const HARM = { 'tool-throws': 0.03, 'tool-acts-and-fails': 0.03, 'tool-hangs': 0.02, die: 0.01, stall: 0.01 };
const HARM_AFTER = { die: 0.02, stall: 0.015 };

/** How long a hanging tool takes: longer than a lease. */
const HANG_MS = 25_000;

/** Tools of every kind that a crash treats differently. What they do outside is in the ledger. */
export function actingTools(world: Surroundings) {
  const { time, faults, ledger } = world;

  async function act({ ref }: { ref: string }, context: ToolContext): Promise<object> {
    const { toolName, idempotencyKey, session } = context;
    const process = currentProcess();
    const fault = faults.at(`tool ${toolName}`, HARM);
    if (process !== undefined && (fault === 'die' || fault === 'stall')) world.harm(fault, process);
    await time.sleep(fault === 'tool-hangs' ? HANG_MS : 1 + 400 * faults.number(`tool ${toolName} takes`) ** 2);
    if (fault === 'tool-throws') throw new Error('The service refused.');
    session.dispatch({ type: 'Acted', ref });
    ledger.effects.push({ toolName, idempotencyKey, ref });
    world.log(`${process?.name} ${toolName} acts for ${ref}`);
    if (fault === 'tool-acts-and-fails') throw new Error('The service broke off.');
    const later = faults.at(`after ${toolName}`, HARM_AFTER);
    if (process !== undefined && later !== undefined) world.harm(later, process);
    await time.sleep(1 + 100 * faults.number(`tool ${toolName} ends`));
    return { done: ref };
  }

  const effect = { inputSchema, slices: [acts], execute: act };
  return {
    charge: tool({ description: 'Charges. Must not happen twice.', ...effect }),
    record: tool({ description: 'Records. May be repeated with its key.', idempotent: true, ...effect }),
    transfer: tool({ description: 'Transfers, once approved.', approval: true, ...effect }),
  };
}

/** Everything that agents may name. */
export function simTools({ time, faults }: Surroundings, acting: ReturnType<typeof actingTools>): RegisteredTools {
  const checked = checkTools(
    {
      ...acting,
      look_up: {
        tool: tool({
          description: 'Looks something up.',
          inputSchema,
          effects: 'none',
          execute: async ({ ref }: { ref: string }) => {
            await time.sleep(1 + 50 * faults.number('look_up takes'));
            return { found: ref };
          },
        }),
        executionType: 'internal',
      },
      helper: {
        description: 'Gives a task to the helper.',
        executionType: 'internal',
        inputSchema: { type: 'object', properties: { task: { type: 'string' } }, required: ['task'] },
        execution: { agentConfig: { instructions: 'You help.', tools: ['charge', 'record', 'look_up'] } },
      },
      confirm: {
        description: 'Asks the people in the space.',
        executionType: 'space',
        inputSchema,
        resultSchema: { type: 'object', properties: { confirmed: { type: 'boolean' } }, required: ['confirmed'] },
      },
    },
    ['tools'],
  );
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.value;
}
