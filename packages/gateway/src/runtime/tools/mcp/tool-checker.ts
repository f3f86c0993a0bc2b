import { createSession } from '@lastcall/core';
import { advertise, parseJson } from '@lastcall/core/internal';
import { dataSchemas } from '../../../config/data-schema.ts';
import { Slices } from '../../../ports/slices.ts';
import type { KnownSecrets } from '../../../telemetry/known-secrets.ts';
import { MOST_ENTRIES } from './list-entries.ts';
import { fingerprintOf, type McpDefinition } from './mcp-definition.ts';
import type { McpList } from './open-client.ts';
import { paramHeaderProblem } from './param-headers.ts';

export interface UsableTools {
  readonly tools: readonly McpDefinition[];
  /** Why each of the other entries is left out. */
  readonly problems: readonly string[];
}

const MOST_TOOLS = 1_000;
/** The longest definition, as JSON. The whole definition is part of every request to a model. */
const LONGEST_DEFINITION = 65_536;

/**
 * Finds the tools in a server's lists that can be offered to a model. One unusable tool must not block the others. A
 * definition that has not changed is the same object as before, and is not checked again.
 */
export class ToolChecker {
  readonly #secrets: KnownSecrets;
  /** The definitions of the last list by their JSON text. */
  #known: ReadonlyMap<string, McpDefinition> = new Map();

  constructor(secrets: KnownSecrets) {
    this.#secrets = secrets;
  }

  async check({ entries, isTool }: McpList): Promise<UsableTools> {
    const tools = new Map<string, McpDefinition>();
    const texts = new Map<string, McpDefinition>();
    const problems: string[] = [];
    const slices = new Slices();
    for (const entry of entries.slice(0, MOST_ENTRIES)) {
      await slices.pause();
      // A definition may contain secrets too, and is stored and shown to models.
      const text = JSON.stringify(this.#secrets.removeFromAll(entry)) ?? 'null';
      const known = this.#known.get(text);
      const checked = known ?? (await checkEntry(text, isTool));
      const problem = typeof checked === 'string' ? checked : placeProblem(checked, tools);
      if (problem !== undefined) problems.push(`${nameOf(entry)}: ${problem}`);
      else if (typeof checked !== 'string') {
        tools.set(checked.name, checked);
        texts.set(text, checked);
      }
    }
    if (entries.length > MOST_ENTRIES) problems.push(`${entries.length - MOST_ENTRIES} more entries were not read`);
    this.#known = texts;
    return { tools: [...tools.values()], problems };
  }
}

/** Returns the definition, or why it cannot be used. */
async function checkEntry(text: string, isTool: McpList['isTool']): Promise<McpDefinition | string> {
  if (text.length > LONGEST_DEFINITION) return 'its definition is too long';
  const one = parseJson(text);
  if (!isTool(one)) return 'it is no tool';
  if (one.name === '') return 'it has no name';
  const headerProblem = text.includes('x-mcp-header') ? paramHeaderProblem(one.inputSchema) : undefined;
  if (headerProblem !== undefined) return headerProblem;
  try {
    const { inputSchema } = dataSchemas(one);
    await advertise({ tool: { description: 'x', inputSchema, execute: () => null } }, OFFER);
    fingerprintOf(one);
    return one;
  } catch (error) {
    return `its schema cannot be used (${(error as Error).message.slice(0, 200)})`;
  }
}

function placeProblem({ name }: McpDefinition, others: ReadonlyMap<string, unknown>): string | undefined {
  if (others.has(name)) return 'another tool has the same name';
  return others.size === MOST_TOOLS ? `the server has more than ${MOST_TOOLS} tools` : undefined;
}

function nameOf(entry: unknown): string {
  return String((entry as { name?: unknown } | null)?.name ?? 'a tool without a name').slice(0, 100);
}

const OFFER = { session: createSession(), pendingAnswered: true };
