import { setImmediate as nextTurn } from 'node:timers/promises';
import { createSession } from '@lastcall/core';
import { advertise } from '@lastcall/core/internal';
import { dataSchema } from '../../../config/data-schema.ts';
import type { McpDefinition } from './mcp-definition.ts';

export interface UsableTools {
  readonly tools: readonly McpDefinition[];
  /** Why each of the others is left out. */
  readonly problems: readonly string[];
}

const MOST_TOOLS = 1_000;
/** Of one definition as JSON. All of it would be part of every request to a model. */
const LONGEST_DEFINITION = 65_536;

/** The tools of a list that a model can be offered. One that cannot be used must not keep the others away. */
export async function usableTools(listed: readonly McpDefinition[]): Promise<UsableTools> {
  const tools = new Map<string, McpDefinition>();
  const problems: string[] = [];
  for (const one of listed) {
    // Each is little work, and a list may have many.
    await nextTurn();
    const problem =
      tools.size === MOST_TOOLS ? `the server has more than ${MOST_TOOLS} tools` : await problemOf(one, tools);
    if (problem === undefined) tools.set(one.name, one);
    else problems.push(`${one.name.slice(0, 100)}: ${problem}`);
  }
  return { tools: [...tools.values()], problems };
}

async function problemOf(one: McpDefinition, others: ReadonlyMap<string, unknown>): Promise<string | undefined> {
  if (one.name === '') return 'it has no name';
  if (others.has(one.name)) return 'another tool has the same name';
  try {
    if (JSON.stringify(one).length > LONGEST_DEFINITION) return 'its definition is too long';
    if (one.outputSchema !== undefined) dataSchema(one.outputSchema);
    const inputSchema = dataSchema(one.inputSchema);
    await advertise({ tool: { description: 'x', inputSchema, execute: () => null } }, OFFER);
    return undefined;
  } catch (error) {
    return `its schema cannot be used (${(error as Error).message.slice(0, 200)})`;
  }
}

const OFFER = { session: createSession(), pendingAnswered: true };
