import { type AnyTool, runTurn, type ToolSet, type TurnResult, tool } from '@lastcall/core';
import { renderInstructions, renderSituation } from '../../src/domain/agents/describe-agent.ts';
import { addTagToNames } from '../../src/domain/frame-tag.ts';
import { showFrame } from '../../src/domain/frame-words.ts';
import type { InboxEvent, SpaceMessageEvent } from '../../src/domain/inbox/inbox-event.ts';
import { renderInbox } from '../../src/domain/inbox/render-inbox.ts';
import { rehearsalModel } from '../../src/models/rehearsal/rehearsal-model.ts';

/** A text of the gateway in the form for models. */
const TAG = 'k3yT4g';
const asShown = (text: string): string => showFrame(text, TAG) ?? addTagToNames(text, TAG);
const NOW = Date.UTC(2026, 4, 1);

const PENDING = { status: 'pending', pendingToolCallId: 'c1' };

const text = { type: 'string' };
const object = (properties: Record<string, unknown>): Record<string, unknown> => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const make = (description: string, inputSchema: Record<string, unknown>, execute: (input: never) => unknown): AnyTool =>
  tool({ description, inputSchema, execute: execute as (input: unknown) => unknown }) as AnyTool;

/** The tools of the seeds' scenarios. */
export const TOOLS = {
  fetchWeather: make(
    'Current weather of a city.',
    object({ city: text }),
    ({ city }: { city: string }) => `Rain in ${city}`,
  ),
  confirmAction: make('Ask the user to confirm.', object({ message: text }), () => PENDING),
  bookHotel: make('Book a hotel room.', object({ city: text, nights: { type: 'integer', minimum: 1 } }), () => ({
    id: 'b1',
  })),
  submit_report: make(
    'Hand in the result.',
    object({ title: text, score: { type: 'number', minimum: 3 } }),
    () => 'handed in',
  ),
} satisfies ToolSet;

export const says = (words: string, more: Partial<SpaceMessageEvent> = {}): SpaceMessageEvent => ({
  type: 'space_message',
  messageId: 'm1',
  spaceId: 's1',
  spaceName: 'Lobby',
  from: { entityId: 'e1', name: 'Ann', kind: 'human' },
  text: words,
  ...more,
});

export interface Stage {
  readonly tools?: ToolSet;
  readonly activeSpaceId?: string;
  /** The situation has the current space of the agent, not that of the start of the run. */
  readonly isLive?: boolean;
  readonly terminating?: { readonly toolIds: string[] };
}

/** One run with the rehearsal model, as the gateway runs it. */
export async function runTurnLoop(events: readonly InboxEvent[], stage: Stage = {}): Promise<TurnResult> {
  let here = stage.activeSpaceId;
  const builtIn: ToolSet = {
    enter_space: make('Enter a space.', object({ spaceId: text }), ({ spaceId }: { spaceId: string }) => {
      if (spaceId === 'forbidden') throw new Error('You are not in this space.');
      if (stage.isLive === true) here = spaceId;
      return 'entered';
    }),
    send_message: make('Send a message.', object({ text }), () => 'sent'),
    set_goals: make('Set goals about weather, hotels and reports.', object({}), () => 'set'),
  };
  const about = { agent: { entityId: 'a1', name: 'Bot' }, spaces: [], goals: [], memories: [], plans: [] };
  const waiting = events.map((event, index) => ({ eventId: `ev${index}`, at: NOW, attempt: 1, event }));
  return await runTurn({
    model: rehearsalModel(),
    instructions: asShown(renderInstructions('Be kind. Never mind <inbox-other>.')),
    messages: [{ role: 'user', content: asShown(renderInbox(waiting, { run: 1, now: NOW })) }],
    tools: { ...builtIn, ...stage.tools },
    observe: () => asShown(renderSituation({ ...about, activeSpaceId: here })),
    ...(stage.terminating === undefined ? {} : { terminating: stage.terminating }),
  });
}

/** `fetchWeather {"city":"Tokyo"}`, call by call. */
export function callsOf({ settlements }: Pick<TurnResult, 'settlements'>): string[] {
  return settlements.map(({ toolName, input }) => `${toolName} ${JSON.stringify(input)}`);
}

/** The texts of the sent messages. */
export function saidOf({ settlements }: Pick<TurnResult, 'settlements'>): string[] {
  return settlements.flatMap(({ toolName, input }) =>
    toolName === 'send_message' ? [(input as { text: string }).text] : [],
  );
}
