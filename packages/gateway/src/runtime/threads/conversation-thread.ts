import type { Entry } from '@lastcall/core';
import { describeContract } from '../../domain/agents/describe-agent.ts';
import { settingsOfAsker } from '../../domain/conversations/settings-of-asker.ts';
import { fromOutside } from '../../domain/frame.ts';
import type { ChatEvent, InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { reservedRun, unusedRun, withoutOtherRuns } from '../../domain/inbox/reserved-run.ts';
import { type EventRow, FIRST_PAGE, waitingEvents } from '../../domain/inbox/waiting-events.ts';
import { fixedCall } from '../../models/fixed-call.ts';
import { fixedReply } from '../../models/fixed-reply.ts';
import { fromJson } from '../../ports/store/schema/json.ts';
import type { ThreadKind } from '../run/thread-kind.ts';
import { conversationBuiltIns } from '../toolset/built-in-tools.ts';
import { callerFrame } from './caller-frame.ts';
import { limitSteps, lowerContract } from './caller-limits.ts';
import { modelSettingsOf, turnRules } from './turn-rules.ts';

/** A plain conversation with the agent's instructions, its tools and messages. One request is one run. */
export const conversationThread: ThreadKind = {
  name: 'context',
  hasSpaces: false,
  tellsPlaces: false,
  runStream: 'whole',
  // The client that sent the request gets the error, and decides whether to try again.
  retriesFailedRuns: false,
  pendingNote: 'It waited for an answer when this was written. Its outcome comes later.',
  async takeEvents({ tx, threadId }, events) {
    const all = events.length < FIRST_PAGE ? events : await waitingEvents(tx, threadId, MAX_WAITING);
    const requests = all.filter(({ type }) => type === 'chat');
    const answers = all.filter(({ type }) => type !== 'chat');
    const ofRequests = new Set(requests.map(({ run_id }) => run_id));
    const runId = reservedRun(answers.filter(({ run_id }) => !ofRequests.has(run_id)));
    // Answers that came before the request, and were promised a separate run.
    if (runId !== undefined) return withoutOtherRuns(answers, runId);
    // Takes the oldest request and all answers: a run may take answers that came after its request.
    return [...requests.slice(0, 1), ...answers];
  },
  async requestOf({ tx, threadId }, events) {
    const request = chatOf(events);
    if (request !== undefined && request.isAnswer !== true) return { runId: request.runId, settings: request.settings };
    // An answer continues the turn that asked, with the settings of that turn. Another client may follow it, and it is another response. The
    // tool that the model had to call has been called.
    const {
      isUnwatched: _,
      previousRunId: _previous,
      repeated: _repeated,
      modelSettings: { toolChoice: _called, ...modelSettings } = {},
      ...others
    } = await settingsOfAsker(tx.db, threadId, events.flatMap(answeredCall));
    const before = Object.keys(modelSettings).length === 0 ? others : { ...others, modelSettings };
    return request === undefined
      ? { runId: await unusedRun(tx, events), settings: before }
      : { runId: request.runId, settings: { ...before, ...request.settings } };
  },
  configOf(config, { tools = [], terminating } = {}) {
    const { terminating: _agents, ...own } = config;
    return {
      ...own,
      tools: [...(config.tools ?? []), ...tools],
      ...(terminating === undefined ? {} : { terminating: lowerContract(terminating, config.terminating) }),
    };
  },
  entriesOf(events, { transcript, settled }) {
    const request = events.map(({ event }) => event).find((event) => event.type === 'chat');
    const isResumed = request === undefined || request.isAnswer === true;
    if (isResumed && transcript.progress.stop?.reason === 'suspended') return settled;
    // Only the gateway may write a frame, such as the summary of a compaction.
    const messages = (request?.messages ?? []).map((one): Entry => ({ kind: 'message', message: fromOutside(one) }));
    // The turn has begun in the original.
    if (request?.isFork === true) return messages;
    const answers = isResumed ? settled.map((entry): Entry => ({ ...entry, late: true })) : settled;
    return isResumed ? [{ kind: 'turn' }, ...answers, ...messages] : [...answers, { kind: 'turn' }, ...messages];
  },
  builtInTools: conversationBuiltIns,
  turnOptions({ agent: { config, limits }, settings = {} }, _situation, ending) {
    const { instructions = '', callerText, prompt, aiMessage, modelSettings } = settings;
    const frame = callerFrame(callerText);
    // The frame, and the instruction of a request for the next message.
    const observed = { frame: frame?.text ?? '', text: (aiMessage === undefined ? prompt : GIVEN) ?? '' };
    const explanation = frame?.explanation ?? '';
    const texts = [config.instructions, instructions, describeContract(ending), explanation].map((text) => text.trim());
    return {
      instructions: texts.filter((text) => text !== '').join('\n\n'),
      explanation,
      onPending: 'suspend',
      ...limitSteps(turnRules(config, ending), limits),
      ...(observed.frame === '' && observed.text === '' ? {} : { observe: () => observed }),
      ...modelSettingsOf(config, modelSettings),
    };
  },
  modelOf({ agent: { config }, settings }, find) {
    if (settings?.call !== undefined) return fixedCall(settings.call, () => find(config.model));
    return settings?.aiMessage === undefined ? find(config.model) : fixedReply(settings.aiMessage);
  },
};

/** A turn begins with a message, even if the caller gives the reply in an empty conversation. */
const GIVEN = 'The caller gives the next message.';

/** Requests above the inbox limit are refused long before this number. */
const MAX_WAITING = 10_000;

function chatOf(events: readonly EventRow[]): ChatEvent | undefined {
  const row = events.find(({ type }) => type === 'chat');
  const event = row === undefined ? undefined : fromJson<InboxEvent>(row.payload);
  return event?.type === 'chat' ? event : undefined;
}

function answeredCall({ type, payload }: EventRow): readonly string[] {
  const event = type === 'tool_result' ? fromJson<InboxEvent>(payload) : undefined;
  return event?.type === 'tool_result' ? [event.callId] : [];
}
