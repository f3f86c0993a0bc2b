import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, ToolContext } from '@lastcall/core';
import { type OpenedWait, openWait } from '../../domain/calls/open-wait.ts';
import { toCardCall } from '../../domain/calls/to-card-call.ts';
import { withdrawQuestions } from '../../domain/calls/withdraw-questions.ts';
import type { Seal } from '../../domain/keys/seal.ts';
import { newId } from '../../domain/new-id.ts';
import { openCardIfAllowed } from '../../domain/spaces/tool-card.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import type { Store } from '../../ports/store/store.ts';
import { fenced } from '../lease/lease.ts';
import type { ActiveRun } from '../run/active-run.ts';
import type { People, PeopleAnswer, Question } from '../tools/mcp/people.ts';
import type { CurrentRun } from '../toolset/current-run.ts';

/** How often the store is read for an answer to a question of an open call. Another gateway may have received it. */
const LOOK_MS = 200;

/** What is stored when a call ends with a question: see `WaitColumns`. */
export interface AskedQuestion extends Question {
  readonly resumeState: string;
}

export interface QuestionsOptions {
  readonly store: Store;
  readonly run: ActiveRun;
  /** The clock of `ctx.deadline`. */
  readonly clock: Clock;
  readonly seal: () => Promise<Seal>;
  readonly read: CurrentRun['read'];
  /** The space that sees the call, or null. */
  readonly spaceOf: (call: ToolContext) => string | null;
  /** The node of a machine that made the call. */
  readonly nodeOf: (callId: string) => string | undefined;
}

/** The questions that calls of one run ask people. */
export class Questions implements People {
  readonly #options: QuestionsOptions;
  readonly #asked = new Map<string, AskedQuestion>();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** The question that the call ended with for now. */
  of(callId: string): AskedQuestion | undefined {
    return this.#asked.get(callId);
  }

  async willAsk({ toolCallId }: ToolContext, question: Question, state: string): Promise<void> {
    const { seal } = await this.#options.seal();
    this.#asked.set(toolCallId, { ...question, resumeState: await seal(state) });
  }

  async stateOf({ toolCallId }: ToolContext): Promise<string | undefined> {
    const { read, seal } = this.#options;
    const row = await read((db) =>
      db.selectFrom('calls').select('resume_state').where('id', '=', toolCallId).executeTakeFirst(),
    );
    return row?.resume_state == null ? undefined : await (await seal()).open(row.resume_state);
  }

  async askDuringCall(ctx: ToolContext, question: Question, signal: AbortSignal): Promise<PeopleAnswer> {
    const { store } = this.#options;
    const questionId = newId();
    await this.#open(ctx, questionId, question);
    try {
      return await this.#answerTo(questionId, signal);
    } catch (error) {
      await store.transaction((tx) => withdrawQuestions(tx, { questionId }));
      throw error;
    }
  }

  async #open(ctx: ToolContext, questionId: string, { text, schema }: Question): Promise<void> {
    const { store, run, clock, spaceOf, nodeOf } = this.#options;
    const { runId, agent, lease } = run;
    const spaceId = spaceOf(ctx);
    const { toolName } = ctx;
    const node = nodeOf(ctx.toolCallId);
    const input = { question: text };
    await fenced(store, lease, async (tx) => {
      const opened: OpenedWait = {
        callId: questionId,
        threadId: lease.threadId,
        agentId: agent.id,
        runId,
        spaceId,
        toolName,
        node,
        kind: 'input',
        input,
        display: { text },
        resultSchema: schema,
        duringCall: ctx.toolCallId,
        // The question is withdrawn when the call ends. If the process dies first, the question expires with the call's
        // deadline, by the database's clock.
        expiresAt: ctx.deadline === undefined ? undefined : tx.now() + ctx.deadline - clock.now(),
        isFork: run.fork !== undefined,
      };
      const round = await openWait(tx, opened);
      if (spaceId === null) return;
      const rawInput = toJson(input);
      const card = { node, spaceId, entityId: agent.entityId, runId, callId: questionId, toolName, input, rawInput };
      await openCardIfAllowed(tx, { ...card, status: 'requires_action', call: toCardCall(opened, round) });
    });
  }

  async #answerTo(questionId: string, signal: AbortSignal): Promise<PeopleAnswer> {
    for (;;) {
      await delay(LOOK_MS, undefined, { signal });
      const row = await this.#options.read((db) =>
        db.selectFrom('calls').select(['wait_status', 'answer']).where('id', '=', questionId).executeTakeFirst(),
      );
      if (row?.wait_status === 'resolved' && row.answer !== null) return fromJson<PeopleAnswer>(row.answer);
      if (row?.wait_status === 'cancelled') return { error: 'The question was withdrawn before anyone answered.' };
      if (row?.wait_status !== 'pending') return { error: 'No one answered in time.' };
    }
  }
}
