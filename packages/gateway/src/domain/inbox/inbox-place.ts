import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { Entry } from '@lastcall/core';
import type { Situation } from '../agents/describe-agent.ts';
import { type Frame, frameMessage, isFrame, parseFrame, renderFrame } from '../frame.ts';
import type { InboxEvent } from './inbox-event.ts';
import type { InboxLine } from './render-inbox.ts';

/*
 * What a model knows already is not told again: it would cost tokens in every later request.
 *
 * 1. An inbox tells the time, its space and the name of the agent. It tells none of them if it continues the inbox before it: both have
 *    messages of one and the same space or answers to calls, they are a few minutes apart, and the agent has neither entered another space
 *    in between nor left this one. `continues` is stored with the frame, so the frame reads the same in every request.
 * 2. A situation that says no more than the newest place is left out: the agent is in that one space, and has no goals, memories and plans.
 * 3. Both hold for agents that are not machines: an instance may not have read the inbox before.
 * 4. After a compaction nothing stands before the newest inbox, so it tells everything: see `withFullInbox`.
 */

/** Where an agent is, as an inbox tells it. */
export interface InboxPlace {
  /** The name of the agent. */
  readonly you: string;
  readonly spaceId: string;
  readonly spaceName: string;
}

/** The newest place that a transcript tells, and the time of its newest inbox, in milliseconds since the epoch. */
export interface ToldPlace extends InboxPlace {
  readonly at: number;
}

/** Undefined if the transcript tells none, or the agent has moved since. */
export function toldPlace(entries: readonly Entry[]): ToldPlace | undefined {
  let at: number | undefined;
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index] as Entry;
    if (entry.kind === 'reply' && entry.calls.some(({ toolName }) => toolName === 'enter_space')) return undefined;
    const inbox = inboxOf(entry);
    if (inbox === undefined) continue;
    const { you, now, leftout } = inbox.attributes ?? {};
    if (you === undefined || leftout !== undefined) return undefined;
    at ??= Date.parse(String(now));
    const events = inbox.lines.map(toEvent);
    if (areAnswers(events)) continue;
    const place = placeOf(events, decodeURIComponent(String(you)));
    return place && { ...place, at };
  }
  return undefined;
}

export interface NextInbox {
  /** The name of the agent. */
  readonly you: string;
  /** When its run begins. */
  readonly now: number;
  /** The space in which its run begins. */
  readonly activeSpaceId: string | null;
}

/** True if an inbox with these events continues the newest one. */
export function isContinued(
  told: ToldPlace | undefined,
  events: readonly InboxEvent[],
  { you, now, activeSpaceId }: NextInbox,
): boolean {
  // Not the time since the inbox before: in a long conversation without a pause the model would never learn the time again.
  if (told === undefined || Math.floor(told.at / UNTOLD_MS) !== Math.floor(now / UNTOLD_MS)) return false;
  if (areAnswers(events)) return true;
  const next = placeOf(events, you);
  // An agent that has left the space begins elsewhere: without a heading, the messages would read as if they were written there.
  if (next?.spaceId !== activeSpaceId) return false;
  return told.you === next?.you && told.spaceId === next.spaceId && told.spaceName === next.spaceName;
}

/** How far the time that a model was told last may be behind. */
const UNTOLD_MS = 5 * 60_000;

/** True if the situation says nothing that the place does not say. */
export function isToldBy(
  place: InboxPlace | undefined,
  { agent, activeSpaceId, spaces, goals, memories, plans }: Situation,
): boolean {
  const [space, ...others] = spaces;
  return (
    place !== undefined &&
    agent.name === place.you &&
    activeSpaceId === place.spaceId &&
    space?.spaceId === place.spaceId &&
    space.name === place.spaceName &&
    others.length + goals.length + memories.length + plans.length === 0
  );
}

/** The entries with their first inbox told in full. */
export function withFullInbox(entries: readonly Entry[]): readonly Entry[] {
  const at = entries.findIndex((entry) => inboxOf(entry) !== undefined);
  const entry = entries[at];
  const inbox = entry && inboxOf(entry);
  if (entry?.kind !== 'message' || inbox?.attributes?.continues === undefined) return entries;
  const { continues: _continues, ...attributes } = inbox.attributes;
  return entries.with(at, { ...entry, message: frameMessage(renderFrame({ ...inbox, attributes })) });
}

/** True if the message is an inbox with a message of a person. */
export function isWrittenByPerson(message: LanguageModelV4Message): boolean {
  const events = (inboxIn(message)?.lines ?? []).map(toEvent);
  return events.some((event) => event.type === 'space_message' && event.from.kind === 'human');
}

/** The place of messages that are all of one space. */
function placeOf(events: readonly InboxEvent[], you: string): InboxPlace | undefined {
  const spaces = events.map((event) => (event.type === 'space_message' ? event : undefined));
  const [first] = spaces;
  if (first === undefined || spaces.some((space) => space?.spaceId !== first.spaceId)) return undefined;
  return { you, spaceId: first.spaceId, spaceName: first.spaceName };
}

/** Answers to calls have no place. */
function areAnswers(events: readonly InboxEvent[]): boolean {
  return events.length > 0 && events.every(({ type }) => type === 'tool_result');
}

/** Frames of other versions may have other lines. */
function toEvent(line: unknown): InboxEvent {
  const { type, data } = (typeof line === 'object' && line !== null ? line : {}) as Partial<InboxLine>;
  return { type, ...data } as InboxEvent;
}

function inboxOf(entry: Entry): Frame | undefined {
  return entry.kind === 'message' ? inboxIn(entry.message) : undefined;
}

function inboxIn(message: LanguageModelV4Message): Frame | undefined {
  if (!isFrame(message)) return undefined;
  const [part] = message.content;
  return part?.type === 'text' ? parseFrame(part.text, 'inbox') : undefined;
}
