import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { RequestContext } from '@mastra/core/request-context';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import {
  Interview,
  NotSupported,
  nameOf,
  type Observation,
  type Script,
  type Subject,
} from '../../semantics/subject.ts';
import { talkingModel } from '../../semantics/talking-model.ts';
import { versionOf } from '../version-of.ts';

const MANY_STEPS = 20;

export const subject: Subject = {
  name: versionOf('@mastra/core'),
  means: {
    stop: '`stopWhen`',
    timeout: '–',
    cap: '`maxSteps`',
    deadline: '`abortSignal`',
    approval: '`requireApproval`, `approveToolCallGenerate` and `declineToolCallGenerate`, on an `InMemoryStore`',
    state: 'the `RequestContext`',
    keeping: '–',
  },
  async run(script) {
    if (script.directory !== undefined)
      throw new NotSupported('the package stores runs in memory only; a durable store is another package');
    if (Object.values(script.tools).some(({ timeoutMs }) => timeoutMs !== undefined))
      throw new NotSupported('a tool has no timeout');
    const interview = new Interview(script.model);
    const context = new RequestContext();
    const agent = new Agent({
      id: 'bench',
      name: 'bench',
      instructions: '',
      // Mastra has another version of the interface's types.
      model: talkingModel(interview) as never,
      tools: toTools(script, context),
    });
    const mastra = new Mastra({ agents: { agent }, storage: new InMemoryStore(), logger: false });
    const registered = mastra.getAgent('agent') as Agent;
    return await observe({ script, interview, context, agent: registered }, () =>
      registered.generate('Go.', {
        requestContext: context,
        maxSteps: script.maxSteps ?? MANY_STEPS,
        ...stopOf(script),
        ...(script.deadlineMs === undefined ? {} : { abortSignal: AbortSignal.timeout(script.deadlineMs) }),
      }),
    );
  },
};

interface Run {
  readonly script: Script;
  readonly interview: Interview;
  readonly context: RequestContext;
  readonly agent: Agent;
}

interface Output {
  readonly text: string;
  readonly runId?: string | undefined;
  readonly finishReason?: string | undefined;
  readonly suspendPayload?: unknown;
  readonly toolResults?: readonly unknown[];
  readonly error?: Error | undefined;
}

async function observe(run: Run, generate: () => Promise<Output>): Promise<Observation> {
  const { interview, context, agent, script } = run;
  const seen = (): Pick<Observation, 'asked' | 'shown' | 'written'> => ({
    asked: interview.asked,
    shown: interview.shown,
    written: () => context.get('written') as string | undefined,
  });
  try {
    const output = await generate();
    const why = output.finishReason ?? '';
    if (why !== 'suspended')
      return { ...seen(), end: 'finished', answer: stoppedText(script, output) ?? output.text, why };
    const { toolCallId } = output.suspendPayload as { toolCallId: string };
    const runId = output.runId ?? '';
    const options = { runId, toolCallId, requestContext: context };
    return {
      ...seen(),
      end: 'waiting',
      answer: '',
      why,
      decide: (decision) =>
        observe(run, () =>
          decision === 'approve'
            ? agent.approveToolCallGenerate(options)
            : agent.declineToolCallGenerate({ ...options, reason: 'Not today.' }),
        ),
    };
  } catch (error) {
    return { ...seen(), end: 'rejected', answer: '', why: nameOf(error) };
  }
}

function toTools({ tools }: Script, context: RequestContext): Record<string, ReturnType<typeof createTool>> {
  return Object.fromEntries(
    Object.entries(tools).map(([name, { execute, approval }]) => [
      name,
      createTool({
        id: name,
        description: 'A scripted tool.',
        inputSchema: z.object({}),
        ...(approval === undefined ? {} : { requireApproval: true }),
        execute: async () => execute({ write: (value) => context.set('written', value) }),
      }),
    ]),
  ) as Record<string, ReturnType<typeof createTool>>;
}

/** Its tool calls and results have their fields directly or in `payload`. */
function fieldsOf(part: unknown): { toolName?: string; result?: unknown } {
  const { payload } = part as { payload?: object };
  return (payload ?? part) as { toolName?: string; result?: unknown };
}

function stopOf({ tools }: Script): object {
  const names = Object.keys(tools).filter((name) => tools[name]?.stop === true);
  if (names.length === 0) return {};
  const stopWhen = ({ steps }: { steps: readonly { toolCalls?: readonly unknown[] }[] }): boolean =>
    (steps.at(-1)?.toolCalls ?? []).some((call) => names.includes(fieldsOf(call).toolName ?? ''));
  return { stopWhen };
}

function stoppedText({ tools }: Script, { toolResults = [] }: Output): string | undefined {
  const result = toolResults.map(fieldsOf).find(({ toolName = '' }) => tools[toolName]?.stop === true);
  return result?.result === undefined ? undefined : String(result.result);
}
