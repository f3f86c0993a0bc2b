import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateText, hasToolCall, isStepCount, type ModelMessage, type StopCondition, type ToolSet, tool } from 'ai';
import { z } from 'zod';
import { Interview, nameOf, type Observation, type Script, type Subject } from '../../semantics/subject.ts';
import { talkingModel } from '../../semantics/talking-model.ts';
import { versionOf } from '../version-of.ts';

const MANY_STEPS = 20;
const PROMPT: ModelMessage = { role: 'user', content: 'Go.' };

export const subject: Subject = {
  name: versionOf('ai'),
  means: {
    stop: '`stopWhen: hasToolCall`',
    timeout: '`timeout.tools`',
    cap: '`stopWhen: isStepCount`',
    deadline: '`timeout.totalMs`',
    approval: '`needsApproval`, and `generateText` on the messages with the response',
    state: 'an object of the host: `generateText` has none that lasts',
    keeping: 'the messages, saved in `onStepFinish`',
  },
  run(script) {
    const run: Run = { script, interview: new Interview(script.model), state: {} };
    const file = fileOf(script);
    const kept =
      file !== undefined && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ModelMessage[]) : [];
    return observe(run, [PROMPT, ...kept]);
  },
};

interface Run {
  readonly script: Script;
  readonly interview: Interview;
  readonly state: { written?: string };
}

async function observe(run: Run, messages: readonly ModelMessage[]): Promise<Observation> {
  const { script, interview, state } = run;
  const seen = (): Pick<Observation, 'asked' | 'shown' | 'written'> => ({
    asked: interview.asked,
    shown: interview.shown,
    written: () => state.written,
  });
  const said: ModelMessage[] = [];
  try {
    const result = await generateText({
      model: talkingModel(interview),
      messages: [...messages],
      tools: toTools(run),
      stopWhen: stopsOf(script),
      maxRetries: 0,
      ...timeoutsOf(script),
      onStepFinish: ({ response }) => {
        said.splice(0, said.length, ...response.messages);
        const file = fileOf(script);
        if (file !== undefined) writeFileSync(file, JSON.stringify([...messages.slice(1), ...said]));
      },
    });
    const request = result.content.find((part) => part.type === 'tool-approval-request');
    const answer = stoppedText(script, result) ?? result.text;
    if (request === undefined) return { ...seen(), end: 'finished', answer, why: result.finishReason };
    return {
      ...seen(),
      end: 'waiting',
      answer: '',
      why: result.finishReason,
      decide: (decision) => observe(run, [...messages, ...result.response.messages, toResponse(request, decision)]),
    };
  } catch (error) {
    return { ...seen(), end: 'rejected', answer: '', why: nameOf(error) };
  }
}

function toTools({ script, state }: Run): ToolSet {
  return Object.fromEntries(
    Object.entries(script.tools).map(([name, { execute, approval }]) => [
      name,
      tool({
        description: 'A scripted tool.',
        inputSchema: z.object({}),
        ...(approval === undefined ? {} : { needsApproval: true }),
        execute: () => execute({ write: (value) => void (state.written = value) }),
      }),
    ]),
  );
}

function stopsOf({ tools, maxSteps = MANY_STEPS }: Script): StopCondition<ToolSet>[] {
  const stops = Object.entries(tools).filter(([, { stop }]) => stop === true);
  return [isStepCount(maxSteps), ...stops.map(([name]) => hasToolCall(name))];
}

function timeoutsOf({ tools, deadlineMs }: Script): { timeout?: { totalMs?: number; tools?: Record<string, number> } } {
  const limits = Object.entries(tools).flatMap(([name, { timeoutMs }]) =>
    timeoutMs === undefined ? [] : [[`${name}Ms`, timeoutMs] as const],
  );
  if (deadlineMs !== undefined) return { timeout: { totalMs: deadlineMs } };
  return limits.length === 0 ? {} : { timeout: { tools: Object.fromEntries(limits) } };
}

/** The result of the stop tool, where it has one. */
function stoppedText(
  { tools }: Script,
  { toolResults }: { toolResults: readonly { toolName: string; output: unknown }[] },
): string | undefined {
  const result = toolResults.find(({ toolName }) => tools[toolName]?.stop === true);
  return result === undefined ? undefined : String(result.output);
}

function toResponse({ approvalId }: { approvalId: string }, decision: 'approve' | 'reject'): ModelMessage {
  const approved = decision === 'approve';
  return {
    role: 'tool',
    content: [{ type: 'tool-approval-response', approvalId, approved, ...(approved ? {} : { reason: 'Not today.' }) }],
  };
}

function fileOf({ directory }: Script): string | undefined {
  return directory === undefined ? undefined : join(directory, 'messages.json');
}
