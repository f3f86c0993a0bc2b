import type { LanguageModelV4FilePart } from '@ai-sdk/provider';
import type { Entry } from '@lastcall/core';
import { renderExplanation, renderInstructions } from '../../domain/agents/describe-agent.ts';
import { attachedParts } from '../../domain/artifacts/attachment.ts';
import { frameMessage } from '../../domain/frame.ts';
import type { InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { isContinued } from '../../domain/inbox/inbox-place.ts';
import { renderInbox } from '../../domain/inbox/render-inbox.ts';
import { eventsOfReserved, reservedRun, unusedRun, withoutOtherRuns } from '../../domain/inbox/reserved-run.ts';
import { FIRST_PAGE, waitingEvents } from '../../domain/inbox/waiting-events.ts';
import type { ThreadKind } from '../run/thread-kind.ts';
import { agentBuiltIns } from '../toolset/built-in-tools.ts';
import { modelSettingsOf, turnRules } from './turn-rules.ts';

/** The thread of an agent: the agent reads the events of its inbox, and acts only through its tools. */
export const agentThread: ThreadKind = {
  name: 'agent',
  hasSpaces: true,
  tellsPlaces: true,
  runStream: 'steps',
  retriesFailedRuns: true,
  // The model may read this note long after the answer has arrived, so the note says that it describes the time of
  // writing.
  pendingNote:
    'It waited for an answer when this was written. Its outcome comes later, in an inbox that names this call.',
  async takeEvents({ tx, threadId }, events, { eventsPerCycle }) {
    const isFirstPageEnough = events.length < FIRST_PAGE || eventsPerCycle <= FIRST_PAGE;
    const batch = isFirstPageEnough
      ? events.slice(0, eventsPerCycle)
      : await waitingEvents(tx, threadId, eventsPerCycle);
    const runId = reservedRun(batch);
    if (runId === undefined) return batch;
    // Answers that name the same run come together, even if the batch gets larger than its limit.
    const promised = await eventsOfReserved(tx, threadId, runId);
    const taken = new Set(batch.map(({ id }) => id));
    return [...withoutOtherRuns(batch, runId), ...promised.filter(({ id }) => !taken.has(id))];
  },
  requestOf: async ({ tx }, events) => ({ runId: await unusedRun(tx, events) }),
  configOf: (config) => config,
  entriesOf(events, { run, you, told, settled }) {
    const now = run.created_at;
    const arrived = events.map(({ event }) => event);
    const continues = isContinued(told, arrived, { you, now, activeSpaceId: run.active_in });
    const inbox = renderInbox(events, { run: run.number, now, you, isContinued: continues });
    const message = frameMessage(inbox, arrived.flatMap(filesOf));
    // The inbox says how these calls ended. Their provisional results stay as they are: a provider's cache holds what was sent before.
    const ends = settled.map((entry): Entry => ({ ...entry, late: true, told: true }));
    return [{ kind: 'turn' }, ...ends, { kind: 'message', message }];
  },
  builtInTools: agentBuiltIns,
  turnOptions: ({ agent: { config, limits } }, situation, ending) => ({
    instructions: renderInstructions(config.instructions, {
      ...ending,
      replies: config.replies,
      builtIns: config.builtIns,
    }),
    explanation: renderExplanation({ ...ending, replies: config.replies, builtIns: config.builtIns }),
    onPending: 'continue',
    observe: () => ({ frame: situation() }),
    maxSteps: limits.maxSteps,
    ...turnRules(config, ending),
    ...modelSettingsOf(config),
  }),
  modelOf: ({ agent: { config } }, find) => find(config.model),
};

function filesOf(event: InboxEvent): readonly LanguageModelV4FilePart[] {
  return event.type === 'space_message' ? attachedParts(event.attachments) : [];
}
