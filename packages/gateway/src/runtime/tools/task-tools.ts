import { type AnyTool, tool } from '@lastcall/core';
import { z } from 'zod';
import type { TaskToolName } from '../../config/known-tool.ts';
import type { RegisteredTool, RegisteredTools } from '../../config/registered-tool.ts';

const made = {
  complete_task: tool({
    description: 'Completes the task with its final result.',
    inputSchema: z.strictObject({ result: z.string().meta({ description: 'The final result of the task.' }) }),
    effects: 'none',
    execute: ({ result }) => `Task completed: ${result}`,
  }),
  report_error: tool({
    description: 'Reports that the task cannot be completed, and why.',
    inputSchema: z.strictObject({ error: z.string().meta({ description: 'What went wrong.' }) }),
    effects: 'none',
    execute: ({ error }) => `Error reported: ${error}`,
  }),
  pass_event: tool({
    description: 'Passes: there is nothing to do.',
    inputSchema: z.strictObject({ reason: z.string().optional() }),
    effects: 'none',
    execute: () => 'Event passed',
  }),
} satisfies Record<TaskToolName, object>;

/**
 * Tools that come with the gateway. An agent has them only if a configuration or a request names them. They end a task:
 * each only reports its outcome.
 */
export const TASK_TOOLS: RegisteredTools = Object.fromEntries(
  Object.entries(made).map(([name, one]): [string, RegisteredTool] => [
    name,
    // There was nothing to do, so there is nothing to tell people.
    { kind: 'typescript', name, tool: one as AnyTool, executionType: 'internal', isSilent: name === 'pass_event' },
  ]),
);
