import { tool } from '@lastcall/core';
import { type ConfigInput, defineAgent, defineConfig } from '@lastcall/gateway';
import { processConfig, report } from './tools-config.ts';

/** Writes a line to a file of the agent, and waits until the test releases it. */
const note = tool({
  description: 'Writes a line.',
  inputSchema: { type: 'object', properties: { ref: { type: 'string' } }, required: ['ref'] } as const,
  effects: 'session',
  async execute({ ref }: { ref: string }, { filesystem, toolName, toolCallId }) {
    await filesystem.writeText('log.md', `${ref}\n`, { mode: 'append' });
    await report(toolName, toolCallId, { ref });
    return await filesystem.readText('log.md');
  },
});

/** What the lastcall.config.mjs of a test about files exports. */
export const filesConfig: ConfigInput = defineConfig({
  definitions: { keeper: defineAgent({ files: true, rewind: true, tools: { note } }) },
  agents: [{ name: 'Keeper', definition: 'keeper' }],
  ...(processConfig.limits === undefined ? {} : { limits: processConfig.limits }),
});
