import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { Command, MemorySaver } from '@langchain/langgraph';
import { createAgent, humanInTheLoopMiddleware, modelCallLimitMiddleware, tool } from 'langchain';
import { z } from 'zod';
import { Interview, nameOf, type Observation, type Reply, type Script, type Subject } from '../../semantics/subject.ts';
import { versionOf } from '../version-of.ts';

interface State {
  written?: string;
}

export const subject: Subject = {
  name: versionOf('langchain'),
  means: {
    stop: '`returnDirect`',
    timeout: "`timeout` in a tool's `defaultConfig`",
    cap: '`modelCallLimitMiddleware`',
    deadline: '`timeout` of `invoke`',
    approval: '`humanInTheLoopMiddleware`, and a `Command` with the decision',
    state: 'the `context` of `invoke`',
    keeping: 'a checkpointer, saved to a file, `durability: "sync"`',
  },
  async run(script) {
    const interview = new Interview(script.model);
    const saver = script.directory === undefined ? new MemorySaver() : new FileSaver(script.directory);
    const agent = createAgent({
      model: new TalkingModel(interview),
      tools: toTools(script),
      checkpointer: saver,
      contextSchema: z.object({ state: z.custom<State>() }),
      middleware: middlewareOf(script) as never,
    }) as unknown as Invokable;
    const run: Run = { script, interview, state: {}, agent };
    const begun = saver instanceof FileSaver && saver.begun;
    return await observe(run, begun ? null : { messages: [{ role: 'user', content: 'Go.' }] });
  },
};

interface Invokable {
  invoke(input: unknown, config: object): Promise<{ messages: BaseMessage[]; __interrupt__?: unknown[] }>;
}

interface Run {
  readonly script: Script;
  readonly interview: Interview;
  readonly state: State;
  readonly agent: Invokable;
}

async function observe(run: Run, input: unknown): Promise<Observation> {
  const { script, interview, state, agent } = run;
  const seen = (): Pick<Observation, 'asked' | 'shown' | 'written'> => ({
    asked: interview.asked,
    shown: interview.shown,
    written: () => state.written,
  });
  try {
    const result = await agent.invoke(input, {
      configurable: { thread_id: 'bench' },
      context: { state },
      // A checkpoint is written before the next step begins. This is its strictest mode.
      ...(script.directory === undefined ? {} : { durability: 'sync' }),
      ...(script.deadlineMs === undefined ? {} : { timeout: script.deadlineMs }),
    });
    const last = result.messages.at(-1);
    const answer = last === undefined ? '' : String(last.content);
    if (result.__interrupt__ === undefined)
      return { ...seen(), end: 'finished', answer, why: last === undefined ? '' : `last message: ${last.type}` };
    return {
      ...seen(),
      end: 'waiting',
      answer: '',
      why: 'interrupt',
      decide: (decision) => {
        const decisions = [decision === 'approve' ? { type: decision } : { type: decision, message: 'Not today.' }];
        return observe(run, new Command({ resume: { decisions } }));
      },
    };
  } catch (error) {
    return { ...seen(), end: 'rejected', answer: '', why: nameOf(error) };
  }
}

function toTools({ tools }: Script): ReturnType<typeof tool>[] {
  return Object.entries(tools).map(([name, { execute, stop, timeoutMs }]) => {
    const made = tool(
      (_input: unknown, runtime: unknown) =>
        execute({
          write: (value) => {
            (runtime as { context: { state: State } }).context.state.written = value;
          },
        }),
      {
        name,
        description: 'A scripted tool.',
        schema: z.object({}),
        ...(stop === undefined ? {} : { returnDirect: true }),
      },
    );
    if (timeoutMs !== undefined) made.defaultConfig = { ...made.defaultConfig, timeout: timeoutMs };
    return made;
  }) as unknown as ReturnType<typeof tool>[];
}

function middlewareOf({ tools, maxSteps }: Script): unknown[] {
  const names = Object.keys(tools).filter((name) => tools[name]?.approval === true);
  const interruptOn = Object.fromEntries(names.map((name) => [name, { allowedDecisions: ['approve', 'reject'] }]));
  return [
    ...(names.length === 0 ? [] : [humanInTheLoopMiddleware({ interruptOn } as never)]),
    ...(maxSteps === undefined ? [] : [modelCallLimitMiddleware({ runLimit: maxSteps } as never)]),
  ];
}

class TalkingModel extends BaseChatModel {
  readonly #interview: Interview;

  constructor(interview: Interview) {
    super({});
    this.#interview = interview;
  }

  override _llmType(): string {
    return 'bench';
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = toMessage(this.#interview.ask(readResults(messages)), this.#interview.asked);
    return { generations: [{ text: String(message.content), message }] };
  }
}

function readResults(messages: readonly BaseMessage[]): Record<string, string> {
  const results = messages.filter((message) => ToolMessage.isInstance(message));
  return Object.fromEntries(results.map((message) => [message.name ?? '', String(message.content)]));
}

function toMessage(reply: Reply, time: number): AIMessage {
  if (typeof reply === 'string') return new AIMessage(reply);
  const calls = reply.map((name, index) => ({ name, args: {}, id: `call-${time}-${index}` }));
  return new AIMessage({ content: '', tool_calls: calls });
}

/** The checkpointer in memory, which writes its content to a file after each change. */
class FileSaver extends MemorySaver {
  readonly #file: string;
  readonly begun: boolean;

  constructor(directory: string) {
    super();
    this.#file = join(directory, 'checkpoints.bin');
    this.begun = existsSync(this.#file);
    if (this.begun) Object.assign(this, deserialize(readFileSync(this.#file)));
  }

  override async put(...args: Parameters<MemorySaver['put']>): ReturnType<MemorySaver['put']> {
    const config = await super.put(...args);
    this.#save();
    return config;
  }

  override async putWrites(...args: Parameters<MemorySaver['putWrites']>): Promise<void> {
    await super.putWrites(...args);
    this.#save();
  }

  #save(): void {
    writeFileSync(this.#file, serialize({ storage: this.storage, writes: this.writes }));
  }
}
