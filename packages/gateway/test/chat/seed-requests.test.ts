import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeWorlds } from '../support/describe-worlds.ts';
import { call, chatApi, fixedTool } from './chat-api.ts';

const submit = (id: string) =>
  tool({ id, description: 'Submits.', inputSchema: z.looseObject({}), execute: () => `Submitted by ${id}.` });

// Copied word for word from the specification (seed 001).
const BASIC = `{
  "context_id": "abc-123",
  "message": "Analyze my last 5 emails and summarize them",
  "terminating_config": {
    "tool_ids": ["c3b3bbf3-92fc-4ce6-b483-489c0b01ffa2"]
  }
}`;
const CUSTOM = `{
  "context_id": "abc-123", 
  "message": "Research the topic and compile a report",
  "terminating_config": {
    "tool_ids": ["a1b2c3d4-...", "e5f6g7h8-..."],
    "consecutive_nudges": 3,
    "nudge_message": "Remember: You must call the terminating tool when finished.",
    "max_invocations": 20
  }
}`;
const INVOKE = `{
  "context_id": "abc-123",
  "terminating_config": {
    "tool_ids": ["your-tool-uuid-here"]
  }
}`;
const AI_MESSAGE = `{
  "context_id": "abc-123",
  "prompt": "Process the user's request and return results via the complete_task tool",
  "terminating_config": {
    "tool_ids": ["your-tool-uuid-here"],
    "max_invocations": 10
  }
}`;

describeWorlds('the requests of seed 001', (open) => {
  test('[C8] work as written: with a conversation and tools that have the ids they name', async () => {
    const model = scriptedModel([
      [call('summarise')],
      ...['Hm.', 'Hm.', 'Hm.'],
      [call('submit_report')],
      [call('complete_analysis')],
      [call('complete_analysis')],
    ]);
    const tools = { submit_report: submit('a1b2c3d4-...'), store_report: submit('e5f6g7h8-...') };
    const world = await open({ models: { default: model }, tools });
    const api = await chatApi(world);
    const agent = await api.agent();
    await api.done('POST', '/contexts', { id: 'abc-123', agent });
    const ids = { summarise: 'c3b3bbf3-92fc-4ce6-b483-489c0b01ffa2', complete_analysis: 'your-tool-uuid-here' };
    for (const [name, id] of Object.entries(ids))
      await api.done('POST', '/api/tools', { ...fixedTool(name, `Output of ${name}.`), id });
    const send = async (path: string, body: string) => (await api.call('POST', path, { body })).body;
    expect((await send('/chat', BASIC)).response).toBe('Output of summarise.');
    const custom = await send('/chat', CUSTOM);
    expect(custom).toMatchObject({ response: 'Submitted by a1b2c3d4-....', saved_ai_messages: true });
    expect(custom.generated_messages[0]).toEqual({
      sender: 'human',
      message: 'Research the topic and compile a report',
    });
    expect((await send('/chat/invoke', INVOKE)).response).toBe('Output of complete_analysis.');
    expect((await send('/chat/add-ai-message', AI_MESSAGE)).response).toBe('Output of complete_analysis.');
    expect(JSON.stringify(model.requests[4]?.prompt)).toContain(
      'Remember: You must call the terminating tool when finished.',
    );
    expect(JSON.stringify(model.requests[6]?.prompt)).toContain("Process the user's request");
  });
});
