import type { Entry } from '@lastcall/core';
import { LRUCache } from 'lru-cache';
import type { AgentConfig } from '../../config/agent-config.ts';
import { settingsOfAsker } from '../../domain/conversations/settings-of-asker.ts';
import type { TurnSettings } from '../../domain/conversations/turn-settings.ts';
import type { ChatEvent, InboxEvent } from '../../domain/inbox/inbox-event.ts';
import { type EventRow, FIRST_PAGE, waitingEvents } from '../../domain/inbox/waiting-events.ts';
import { fixedCall } from '../../models/fixed-call.ts';
import { fixedReply } from '../../models/fixed-reply.ts';
import { fromJson, toJson } from '../../ports/store/schema/json.ts';
import { hideTagIn } from '../../telemetry/hide-tag.ts';
import type { ThreadKind } from '../run/thread-kind.ts';
import { conversationBuiltIns } from '../toolset/built-in-tools.ts';
import { callerFrame, observedText } from './caller-frame.ts';
import { limitSteps, lowerContract } from './caller-limits.ts';
import { turnRules } from './turn-rules.ts';

/** A plain conversation with the agent's instructions, its tools and messages. One request is one run. */
export const conversationThread: ThreadKind = {
  name: 'context',
  hasSpaces: false,
  runStream: 'whole',
  // The client that sent the request gets the error, and decides whether to try again.
  retriesFailedRuns: false,
  pendingNote: 'Pending when this was written. Its outcome comes later.',
  async takeEvents({ tx, threadId }, events) {
    const all = events.length < FIRST_PAGE ? events : await waitingEvents(tx, threadId, MAX_WAITING);
    // Takes the oldest request and all answers: a run may take answers that came after its request.
    const request = all.find(({ type }) => type === 'chat');
    return [...(request === undefined ? [] : [request]), ...all.filter(({ type }) => type !== 'chat')];
  },
  async requestOf({ tx, threadId }, events) {
    const request = chatOf(events);
    if (request !== undefined && request.isAnswer !== true) return { runId: request.runId, settings: request.settings };
    // An answer continues the turn that asked, with the settings of that turn. Another client may follow it.
    const { isUnwatched: _, ...before } = await settingsOfAsker(tx.db, threadId, events.flatMap(answeredCall));
    return request === undefined
      ? { settings: before }
      : { runId: request.runId, settings: { ...before, ...request.settings } };
  },
  configOf: (config, settings = {}) => configs.of(config, settings),
  entriesOf(events, { tag, transcript, settled }) {
    const request = events.map(({ event }) => event).find((event) => event.type === 'chat');
    const isResumed = request === undefined || request.isAnswer === true;
    if (isResumed && transcript.progress.stop?.reason === 'suspended') return settled;
    // Only the gateway may write a frame, such as the summary of a compaction.
    const messages = hideTagIn(request?.messages ?? [], tag).map((message): Entry => ({ kind: 'message', message }));
    const answers = isResumed ? settled.map((entry): Entry => ({ ...entry, late: true })) : settled;
    return isResumed ? [{ kind: 'turn' }, ...answers, ...messages] : [...answers, { kind: 'turn' }, ...messages];
  },
  builtInTools: conversationBuiltIns,
  turnOptions({ agent: { config, limits, tag }, settings = {} }) {
    const { instructions = '', callerText, prompt, aiMessage, modelSettings } = settings;
    const frame = callerFrame(callerText, tag);
    const observed = observedText({ frame, prompt: aiMessage === undefined ? prompt : GIVEN }, tag);
    const texts = [config.instructions, instructions, frame?.explanation ?? ''].map((text) => text.trim());
    return {
      instructions: texts.filter((text) => text !== '').join('\n\n'),
      onPending: 'suspend',
      ...limitSteps(turnRules(config), limits),
      ...(observed === '' ? {} : { observe: () => observed, framed: observed }),
      ...(modelSettings === undefined ? {} : { modelSettings }),
    };
  },
  modelOf({ agent: { config }, settings }, find) {
    if (settings?.call !== undefined) return fixedCall(settings.call);
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

/**
 * Configurations of runs. Equal settings give the same object, because tools and schemas are compiled once per object.
 */
class RunConfigs {
  readonly #known = new WeakMap<AgentConfig, LRUCache<string, AgentConfig>>();

  of(config: AgentConfig, { tools = [], terminating }: TurnSettings): AgentConfig {
    const ofAgent =
      this.#known.get(config) ??
      new LRUCache<string, AgentConfig>({ max: 100, maxSize: 1_000_000, sizeCalculation: (_made, key) => key.length });
    this.#known.set(config, ofAgent);
    const key = toJson({ tools, terminating });
    const { terminating: _agents, ...own } = config;
    const made = ofAgent.get(key) ?? {
      ...own,
      tools: [...(config.tools ?? []), ...tools],
      ...(terminating === undefined ? {} : { terminating: lowerContract(terminating, config.terminating) }),
    };
    ofAgent.set(key, made);
    return made;
  }
}

const configs = new RunConfigs();
