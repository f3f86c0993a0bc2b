import type { Tool } from '@modelcontextprotocol/server';
import type { AgentConfig } from '../../config/agent-config.ts';
import type { ListedTool } from '../../domain/tools/listed-tool.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { AgentRow } from '../../ports/store/schema/tables.ts';

/** Hints for the client's user. Unknown properties are reported as the worst case. */
export function describeTool({ name, description, inputSchema, effects, idempotent }: ListedTool): Tool {
  return {
    name,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    annotations: {
      readOnlyHint: effects === 'none',
      destructiveHint: effects === 'external',
      idempotentHint: idempotent || effects === 'none',
      openWorldHint: effects === 'external',
    },
  };
}

export function describeAgent({ name, config }: Pick<AgentRow, 'name' | 'config'>, toolName: string): Tool {
  const { description } = fromJson<AgentConfig>(config);
  return {
    name: toolName,
    title: name,
    description: `Asks the agent ${name}.${description === undefined ? '' : ` ${description}`}`,
    inputSchema: {
      type: 'object',
      properties: {
        message: { type: 'string', minLength: 1, description: 'The message to the agent.' },
        context_id: {
          type: 'string',
          description:
            'Continues an earlier conversation: the context_id of its result. Leave it out to begin a new one.',
        },
      },
      required: ['message'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  };
}

export function describeRun(name: string): Tool {
  return {
    name,
    description:
      'Gets the result of an earlier call that was interrupted or waits for an answer, by the id of its run.',
    inputSchema: {
      type: 'object',
      properties: { run_id: { type: 'string', description: 'The id of the run, which the earlier call returned.' } },
      required: ['run_id'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}
