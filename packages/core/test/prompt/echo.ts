import { type Tool, tool } from '../../src/tools/tool.ts';

/** A tool that returns its text. */
export const echo: Tool<{ text: string }, string> = tool({
  description: 'Gives the text back.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  effects: 'session',
  execute: ({ text }: { text: string }) => text,
});
