import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { AiSdkTool } from '../contract/ai-sdk-tool.ts';
import type { ToolSet } from '../contract/tool-set.ts';
import { LastcallError } from '../errors.ts';
import type { Outcome, Settlement } from '../results/outcome.ts';
import { renderValue } from '../results/render.ts';
import { describeTool } from '../tools/advertise.ts';
import { type ResolvedTool, resolveTool } from '../tools/resolved-tool.ts';
import { wellFormed } from '../transcript/well-formed.ts';
import { type AiSdkCall, AiSdkTurn, type AiSdkTurnOptions } from './ai-sdk-turn.ts';

/** Tools in the AI SDK's loop, for one run. */
export interface AiSdkTools {
  /** For `streamText` and `generateText`. */
  readonly settings: AiSdkSettings;
  /** How the calls ended, in order. */
  readonly settlements: readonly Settlement[];
  /** The response that a terminal tool has given. Undefined if none has: then the AI SDK's text is the response. */
  readonly response: string | undefined;
  /** The value of that tool. */
  readonly output: unknown;
}

interface AiSdkSettings {
  readonly tools: Readonly<Record<string, AiSdkFunction>>;
  readonly prepareStep: (step: {
    readonly stepNumber: number;
    readonly messages: readonly unknown[];
  }) => Promise<{ messages?: never[] }>;
  readonly stopWhen: (done: { readonly steps: readonly unknown[] }) => boolean;
}

/** A tool in the AI SDK's form, described by its shape. */
interface AiSdkFunction extends PassedOn {
  readonly description?: string | (() => string);
  readonly inputSchema: StandardSchemaV1<unknown, unknown>;
  readonly execute?: (input: unknown, options: ExecuteOptions) => Promise<unknown>;
  readonly needsApproval?: (input: unknown, options: ExecuteOptions) => Promise<boolean>;
  readonly toModelOutput: (result: ModelOutputOptions) => never;
}

/** What a tool of the AI SDK says to it, and through it to the provider. */
interface PassedOn {
  readonly type?: never;
  readonly title?: string;
  readonly strict?: boolean;
  readonly inputExamples?: never;
  readonly providerOptions?: never;
}

interface ModelOutputOptions {
  readonly toolCallId: string;
  readonly input: unknown;
  readonly output: unknown;
}

type ExecuteOptions = Pick<AiSdkCall, 'toolCallId' | 'messages' | 'abortSignal'>;

/**
 * Makes tools usable in the AI SDK's own loop, with the rules of a turn: `streamText({ model, prompt,
 * ...toAiSdkTools(tools, { session }).settings })`. Calls settle one after another; after a failure, a response or a
 * rewind the rest of the step does not run; a terminal tool stops the loop; a rewind takes the messages back too.
 */
export function toAiSdkTools(tools: ToolSet, options: AiSdkTurnOptions = {}): AiSdkTools {
  const turn = new AiSdkTurn(tools, options);
  const entries = Object.entries(turn.tools).map(([name, definition]) => {
    const tool = resolveTool(name, definition);
    // A tool that the provider runs is passed on as it is.
    return [name, tool.origin === 'provider' ? (definition as never) : toFunction(turn, name, tool)] as const;
  });
  return {
    settings: {
      tools: Object.fromEntries(entries),
      async prepareStep({ stepNumber, messages }) {
        const shown = await turn.startStep(stepNumber, messages);
        return shown === undefined ? {} : { messages: shown as never[] };
      },
      stopWhen: ({ steps }) => turn.shouldStop(steps.length),
    },
    get settlements() {
      return turn.settlements;
    },
    get response() {
      return turn.ending?.response;
    },
    get output() {
      return turn.ending?.output;
    },
  };
}

function toFunction(turn: AiSdkTurn, toolName: string, tool: ResolvedTool): AiSdkFunction {
  const toCall = (input: unknown, options: ExecuteOptions): AiSdkCall => {
    const { toolCallId, messages, abortSignal } = options;
    return { toolName, input, toolCallId, messages, abortSignal };
  };
  const describe = (): string => describeTool(toolName, tool, turn.session);
  const description = typeof tool.description === 'function' ? describe : tool.description;
  return {
    ...passedOn(tool.definition as AiSdkTool),
    ...(description === '' ? {} : { description }),
    inputSchema: schemaOf(tool),
    toModelOutput: (result) => toModelOutput(turn.settlementOf(result.toolCallId), tool, result) as never,
    // Without execute, the AI SDK stops and leaves the call to the host.
    ...(tool.execute === undefined
      ? {}
      : { execute: async (input, options) => toOutput((await turn.settle(toCall(input, options))).outcome) }),
    ...(tool.approval === false
      ? {}
      : { needsApproval: (input, options) => turn.needsApproval(toCall(input, options), tool) }),
  };
}

function passedOn({ type, title, strict, inputExamples, providerOptions }: AiSdkTool): PassedOn {
  const fields = { type, title, strict, inputExamples, providerOptions };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * The schema in the AI SDK's own form, which it shows to the model unchanged. It lets every input pass: the call itself
 * refuses what does not fit, so that it has a settlement and the rest of the step can be cancelled.
 */
function schemaOf(tool: ResolvedTool): AiSdkFunction['inputSchema'] {
  return {
    [Symbol.for('vercel.ai.schema')]: true,
    get jsonSchema() {
      return tool.input.jsonSchema();
    },
    validate: (value: unknown) => ({ success: true, value }),
  } as never;
}

/** A value is the AI SDK's result. Everything else is thrown, which the AI SDK shows as the error of the call. */
function toOutput(outcome: Outcome): unknown {
  if (outcome.status === 'ok') return outcome.value;
  throw new CallFailed(outcome.status === 'error' ? outcome.code : outcome.status, outcome.text);
}

/** The AI SDK shows an error to the model by its `toString`, and the model is to read the text alone. */
class CallFailed extends LastcallError {
  override readonly name: string = 'CallFailed';

  override toString(): string {
    return this.message;
  }
}

/** The text of the settlement. A result of an earlier run has none here: the AI SDK may ask for it too. */
function toModelOutput(settlement: Settlement | undefined, tool: ResolvedTool, result: ModelOutputOptions): unknown {
  const outcome = settlement?.outcome;
  if (outcome?.status === 'ok') {
    const { text, content = [] } = wellFormed({ text: outcome.text, content: outcome.content });
    if (content.length === 0) return { type: 'text', value: text };
    return { type: 'content', value: [...(text === '' ? [] : [{ type: 'text', text }]), ...content] };
  }
  const own = (tool.definition as AiSdkTool).toModelOutput;
  if (own !== undefined) return own(result as never);
  return { type: 'text', value: wellFormed(renderValue(result.output, tool.render)) };
}
