import {
  type Answer,
  type JsonSchemaObject,
  type PendingCall,
  pending,
  type ToolContext,
  type ToolResult,
  Transcript,
  type TranscriptJson,
  type TurnResult,
} from '@lastcall/core';
import { parseJson } from '@lastcall/core/internal';
import type { People, PeopleAnswer, Question } from '../mcp/people.ts';

/*
 * A sub-agent that waits for people. Its turn is suspended, so the call around it asks the people instead, and keeps the sub-agent's
 * transcript, sealed, with the question. With the answer the call runs again, and the turn goes on from there. If several calls of the
 * sub-agent wait, they are asked about one after the other.
 *
 * A sub-agent of a sub-agent asks in the same way: the call around it is a call of the outer sub-agent, whose turn is then suspended too.
 * What the inner one keeps is part of what the outer one keeps, so that only the call of the run itself is stored.
 */

/** The tools of a sub-agent, as far as people answer their calls. */
export interface NestedTools {
  /** What the tool says about answers to its calls. */
  waitOf(toolName: string): NestedWait;
  /** What an approval of a call of the tool is for. */
  definitionOf(toolName: string): Promise<string>;
  /** Why an approval for this definition does not count. Undefined if it does. */
  whyVoid(toolName: string, definition: string): Promise<string | undefined>;
}

interface NestedWait extends Pick<Question, 'answerers' | 'expiresInMs'> {
  readonly resultSchema: JsonSchemaObject | undefined;
}

/** Whom a call asks. */
export type AskedPeople = Pick<People, 'willAsk' | 'stateOf'>;

/** What is kept until the answer comes. */
interface WaitState {
  readonly transcript: TranscriptJson;
  readonly callId: string;
  readonly kind: PendingCall['kind'];
  /** What an approval is for. Earlier versions of the gateway stored none. */
  readonly approvable?: { readonly toolName: string; readonly definition: string };
  /** True if the tool has a schema for its result: then the answer is the result as it was given. */
  readonly hasSchema?: true;
  /** What the calls that wait keep, if they are sub-agents themselves. */
  readonly held?: HeldStates;
}

type HeldStates = Readonly<Record<string, HeldQuestion>>;

interface HeldQuestion extends Question {
  readonly state: string;
}

/** The questions of sub-agents that a sub-agent called, until it asks people itself. */
export class HeldQuestions implements AskedPeople {
  /** By the id of the call. */
  readonly #held: Map<string, HeldQuestion>;

  constructor(held: HeldStates) {
    this.#held = new Map(Object.entries(held));
  }

  async willAsk({ toolCallId }: ToolContext, question: Question, state: string): Promise<void> {
    this.#held.set(toolCallId, { ...question, state });
  }

  async stateOf({ toolCallId }: ToolContext): Promise<string | undefined> {
    return this.#held.get(toolCallId)?.state;
  }

  of(callId: string): Question | undefined {
    return this.#held.get(callId);
  }

  /** What the calls that still wait keep. */
  statesOf(waiting: readonly Pick<PendingCall, 'callId'>[]): HeldStates {
    return Object.fromEntries(
      waiting.flatMap(({ callId }) => {
        const held = this.#held.get(callId);
        return held === undefined ? [] : [[callId, held]];
      }),
    );
  }
}

/** Asks about the first call that waits: those whom its tool names, or else those who may answer the call around the sub-agent. */
export async function askPeople(
  { pending: waiting, transcript }: TurnResult,
  {
    people,
    questions,
    ctx,
    waitOf,
    definitionOf,
  }: Pick<NestedTools, 'waitOf' | 'definitionOf'> & {
    readonly people: AskedPeople;
    readonly questions: HeldQuestions;
    readonly ctx: ToolContext;
  },
): Promise<ToolResult> {
  const [first] = waiting;
  if (first === undefined) throw new Error('The turn of a sub-agent is suspended, and nothing waits.');
  const { callId, kind, toolName } = first;
  const held = questions.statesOf(waiting);
  const { resultSchema, ...own } = waitOf(toolName);
  const state: WaitState = {
    ...{ transcript: transcript.toJSON(), callId, kind, held },
    ...(kind === 'approval' ? { approvable: { toolName, definition: await definitionOf(toolName) } } : {}),
    ...(resultSchema === undefined ? {} : { hasSchema: true }),
  };
  const asked = questions.of(callId) ?? toQuestion(first, resultSchema);
  const { answerers = own.answerers, expiresInMs = own.expiresInMs } = asked;
  const question = { ...asked, answerers, expiresInMs };
  await people.willAsk(ctx, question, JSON.stringify(state));
  const note = `People were asked about the sub-agent's call of ${toolName}. It was waiting for an answer when this was written. Its outcome comes later and names this call.`;
  const message = JSON.stringify({ status: 'pending', pendingToolCallId: ctx.toolCallId, note });
  return pending({ asks: true, display: { text: question.text }, message });
}

/** What the sub-agent's turn continues with. Undefined if it cannot be read any more. */
export async function readWait(
  { people, whyVoid }: Pick<NestedTools, 'whyVoid'> & { readonly people: AskedPeople },
  ctx: ToolContext,
): Promise<Continued | undefined> {
  const stored = await people.stateOf(ctx);
  if (stored === undefined) return undefined;
  const state = parseJson(stored) as WaitState;
  const { transcript, callId, held = {} } = state;
  const given = ctx.answer as PeopleAnswer;
  // The inner sub-agent asked, and reads the answer itself.
  const answer = Object.hasOwn(held, callId) ? given : await unlessVoid(toAnswer(state, given), state, whyVoid);
  return { transcript: Transcript.fromJSON(transcript), answers: { [callId]: answer }, held };
}

interface Continued {
  readonly transcript: Transcript;
  readonly answers: Readonly<Record<string, Answer>>;
  readonly held: HeldStates;
}

const APPROVAL: JsonSchemaObject = {
  type: 'object',
  properties: {
    approve: { type: 'boolean', description: 'Whether the call may run.' },
    reason: { type: 'string', description: 'Why not.' },
  },
  required: ['approve'],
  additionalProperties: false,
};

const TEXT: JsonSchemaObject = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};

function toQuestion({ toolName, input, kind }: PendingCall, resultSchema: JsonSchemaObject | undefined): Question {
  const call = `${toolName} ${JSON.stringify(input)}`;
  return kind === 'approval'
    ? { text: `A sub-agent wants to call ${call}. May it?`, schema: APPROVAL }
    : { text: `A sub-agent asks: ${call}`, schema: resultSchema ?? TEXT };
}

/** An approval counts for the tool as it was when the approval was requested. */
async function unlessVoid(
  answer: Answer,
  { approvable }: Pick<WaitState, 'approvable'>,
  whyVoid: NestedTools['whyVoid'],
): Promise<Answer> {
  if (!('approve' in answer) || approvable === undefined) return answer;
  const why = await whyVoid(approvable.toolName, approvable.definition);
  return why === undefined ? answer : { deny: why };
}

function toAnswer({ kind, hasSchema }: Pick<WaitState, 'kind' | 'hasSchema'>, answer: PeopleAnswer): Answer {
  if ('error' in answer) return kind === 'approval' ? { deny: answer.error } : { error: answer.error };
  const { result } = answer;
  if (kind !== 'approval') return { result: hasSchema !== true && isText(result) ? result.answer : result };
  const { approve, reason = 'It was not approved.' } = result as {
    readonly approve: boolean;
    readonly reason?: string;
  };
  return approve ? { approve: true } : { deny: reason };
}

/** True for an answer to a question that has no other schema. */
function isText(result: unknown): result is { readonly answer: string } {
  const keys = typeof result === 'object' && result !== null ? Object.keys(result) : [];
  return keys.length === 1 && keys[0] === 'answer';
}
