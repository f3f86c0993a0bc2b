import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Agent,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  type RunContext,
  Runner,
  type RunState,
  type Session,
  tool,
  Usage,
} from '@openai/agents';
import { z } from 'zod';
import { Interview, nameOf, type Observation, type Reply, type Script, type Subject } from '../../semantics/subject.ts';
import { versionOf } from '../version-of.ts';

interface State {
  written?: string;
}

interface Run {
  readonly script: Script;
  readonly interview: Interview;
  readonly state: State;
  readonly agent: Agent<State>;
}

const runner = new Runner({ tracingDisabled: true });

export const subject: Subject = {
  name: versionOf('@openai/agents'),
  means: {
    stop: '`toolUseBehavior.stopAtToolNames`',
    timeout: "a tool's `timeoutMs`",
    cap: '`maxTurns`',
    deadline: '`signal`',
    approval: '`needsApproval`, and `run` on the state that was approved or rejected',
    state: "the run's `context`",
    keeping: 'a `Session` in a file',
  },
  run(script) {
    const interview = new Interview(script.model);
    const agent = new Agent<State>({
      name: 'bench',
      model: toModel(interview),
      tools: toTools(script),
      ...stopOf(script),
    });
    const begun = script.directory !== undefined && existsSync(join(script.directory, 'items.json'));
    return observe({ script, interview, state: {}, agent }, begun ? [] : 'Go.');
  },
};

async function observe(
  run: Run,
  input: string | AgentInputItem[] | RunState<State, Agent<State>>,
): Promise<Observation> {
  const { script, interview, state, agent } = run;
  const seen = (): Pick<Observation, 'asked' | 'shown' | 'written'> => ({
    asked: interview.asked,
    shown: interview.shown,
    written: () => state.written,
  });
  try {
    const result = await runner.run(agent, input, {
      context: state,
      ...(script.maxSteps === undefined ? {} : { maxTurns: script.maxSteps }),
      ...(script.deadlineMs === undefined ? {} : { signal: AbortSignal.timeout(script.deadlineMs) }),
      ...(script.directory === undefined ? {} : { session: fileSession(script.directory) }),
    });
    if (result.interruptions.length === 0)
      return { ...seen(), end: 'finished', answer: String(result.finalOutput ?? ''), why: 'final output' };
    const [waiting] = result.interruptions;
    return {
      ...seen(),
      end: 'waiting',
      answer: '',
      why: 'interruption',
      decide: (decision) => {
        if (waiting !== undefined) result.state[decision](waiting);
        return observe(run, result.state);
      },
    };
  } catch (error) {
    return { ...seen(), end: 'rejected', answer: '', why: nameOf(error) };
  }
}

function toTools({ tools }: Script): ReturnType<typeof tool>[] {
  return Object.entries(tools).map(([name, { execute, timeoutMs, approval }]) =>
    tool({
      name,
      description: 'A scripted tool.',
      parameters: z.object({}),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(approval === undefined ? {} : { needsApproval: true }),
      execute: (_input, context) =>
        execute({
          write: (value) => {
            if (context !== undefined) (context as RunContext<State>).context.written = value;
          },
        }),
    }),
  ) as ReturnType<typeof tool>[];
}

function stopOf({ tools }: Script): { toolUseBehavior?: { stopAtToolNames: string[] } } {
  const names = Object.keys(tools).filter((name) => tools[name]?.stop === true);
  return names.length === 0 ? {} : { toolUseBehavior: { stopAtToolNames: names } };
}

function toModel(interview: Interview): Model {
  return {
    getResponse: async (request) => toResponse(interview.ask(readResults(request)), interview.asked),
    getStreamedResponse: () => {
      throw new Error('Not streamed here.');
    },
  };
}

function readResults({ input }: ModelRequest): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const item of Array.isArray(input) ? input : []) {
    if (item.type !== 'function_call_result') continue;
    const { output } = item;
    const text = typeof output === 'object' && output !== null && 'text' in output ? output.text : output;
    shown[item.name] = typeof text === 'string' ? text : JSON.stringify(text);
  }
  return shown;
}

function toResponse(reply: Reply, time: number): ModelResponse {
  const output: ModelResponse['output'] =
    typeof reply === 'string'
      ? [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: reply }] }]
      : reply.map((name, index) => ({
          type: 'function_call',
          callId: `call-${time}-${index}`,
          name,
          status: 'completed',
          arguments: '{}',
        }));
  return { usage: new Usage(), output };
}

function fileSession(directory: string): Session {
  const file = join(directory, 'items.json');
  const read = (): AgentInputItem[] => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []);
  const write = (items: readonly AgentInputItem[]): void => writeFileSync(file, JSON.stringify(items));
  return {
    getSessionId: async () => 'bench',
    getItems: async (limit) => (limit === undefined ? read() : read().slice(-limit)),
    addItems: async (items) => write([...read(), ...items]),
    popItem: async () => {
      const items = read();
      const last = items.pop();
      write(items);
      return last;
    },
    clearSession: async () => write([]),
  };
}
