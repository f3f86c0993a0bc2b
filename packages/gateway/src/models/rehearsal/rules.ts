import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { InboxEvent, ToolResultEvent } from '../../domain/inbox/inbox-event.ts';
import { exampleInput } from './example-input.ts';
import { asksForConfirmation, finishes, isConsequential, isOwn, matchTool } from './match-tool.ts';
import type { RehearsedStep, Scene } from './scene.ts';

export interface RehearsedCall {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What happens in a cycle, call by call: each is yielded, and its result comes back. What is returned is the last text. */
export type Script<R = void> = Generator<RehearsedCall, R, RehearsedStep>;

export const CONFESSION = 'This is a rehearsal: I follow simple rules and am not a language model.';

export function* perform(scene: Scene): Script<string> {
  const told = scene.topic.kind === 'chat' ? yield* converse(scene, scene.topic.text) : undefined;
  if (scene.topic.kind === 'inbox') yield* takeUpAll(scene, scene.topic.events);
  if (scene.isNudged) yield* finish(scene);
  return `${CONFESSION} ${told ?? 'I have done what my rules say.'}`;
}

/** Without an inbox nobody needs a space to be answered: the text is the answer. */
function* converse(scene: Scene, text: string): Script<string> {
  return LATE_ANSWER.test(text) ? short(text) : yield* follow(scene, text);
}

// How a turn tells of an answer to a call that it has long left behind.
const LATE_ANSWER = /^The answer to call /;

function* takeUpAll(scene: Scene, events: readonly InboxEvent[]): Script {
  let place = scene.activeSpaceId;
  let hasConfessed = false;
  for (const event of events) {
    const target = event.type === 'space_message' ? event.spaceId : place;
    // First of all: what it does for somebody is shown where they are.
    const isThere = isForIt(event) && target !== undefined && (target === place || (yield* enter(scene, target)));
    if (isThere) place = target;
    const told = yield* nextCycle(scene, event);
    if (told === undefined || !isThere || !isOffered(scene, 'send_message')) continue;
    yield { toolName: 'send_message', input: { text: hasConfessed ? told : `${CONFESSION} ${told}` } };
    hasConfessed = true;
  }
}

/** Agents are not answered: two that follow rules would never stop. */
function isForIt(event: InboxEvent): boolean {
  return event.type !== 'space_message' || event.from.kind !== 'agent';
}

function* enter(scene: Scene, spaceId: string): Script<boolean> {
  if (!isOffered(scene, 'enter_space')) return false;
  const entered = yield { toolName: 'enter_space', input: { spaceId } };
  return !entered.isError;
}

/** Does what an event is about, and gives what is to be said of it. */
function* nextCycle(scene: Scene, event: InboxEvent): Script<string | undefined> {
  switch (event.type) {
    case 'space_message':
      return isForIt(event) ? yield* follow(scene, event.text) : undefined;
    case 'tool_result':
      return yield* goOn(scene, event);
    case 'plan':
      return `It is time for "${event.name}". ${yield* follow(scene, event.instruction)}`;
    case 'service':
      return `The service ${event.source} says "${event.name}": ${short(JSON.stringify(event.data))}`;
  }
}

/** Does what a text asks for, if there is a tool for it. */
function* follow(scene: Scene, text: string): Script<string> {
  const acting = scene.tools.filter((one) => !asksForConfirmation(one));
  const tool = matchTool(text, acting) ?? matchTool(text, scene.tools);
  if (tool === undefined) return `${acknowledge(text)} ${offer(scene)}`;
  const confirm = isConsequential(tool) ? scene.tools.find((one) => isOwn(one) && asksForConfirmation(one)) : undefined;
  if (confirm === undefined) return yield* callAndTell(scene, tool, text);
  const asked = yield callOf(scene, confirm, text);
  if (asked.isError) return `I asked with ${confirm.name} before going on, and that failed: ${short(asked.text)}`;
  if (isPending(asked)) return 'I asked for a confirmation, and go on when it comes.';
  return yield* decide(scene, { isYes: isYes(parse(asked.text)), who: 'You', text });
}

function* callAndTell(scene: Scene, tool: LanguageModelV4FunctionTool, text: string): Script<string> {
  const result = yield callOf(scene, tool, text);
  if (result.isError) return `I called ${tool.name}, and it failed: ${short(result.text)}`;
  if (isPending(result)) return `I called ${tool.name}, and wait for its answer.`;
  return `I called ${tool.name}, and it says: ${short(result.text)}`;
}

/** An answer has come to a call of an earlier cycle. */
function* goOn(scene: Scene, { callId, toolName, input, outcome, resolvedBy }: ToolResultEvent): Script<string> {
  const who = resolvedBy?.name ?? 'Somebody';
  switch (outcome.status) {
    case 'expired':
      return `Nobody answered ${toolName} in time, so I did not go on.`;
    case 'denied':
      return `${who} denied ${toolName}: ${short(outcome.reason)}`;
    case 'error':
      return `${toolName} failed: ${short(outcome.message)}`;
    case 'approved':
      return `${who} approved ${toolName}${saying(scene.resultOf(callId))}`;
    case 'ok':
      if (asksForConfirmation({ name: toolName }))
        return yield* decide(scene, { isYes: isYes(outcome.value), who, text: textsIn(input).join(' ') });
      return `${who} answered ${toolName}: ${short(JSON.stringify(outcome.value))}`;
  }
}

interface Decision {
  readonly isYes: boolean;
  readonly who: string;
  /** What it was about. */
  readonly text: string;
}

function* decide(scene: Scene, { isYes, who, text }: Decision): Script<string> {
  if (!isYes) return `${who} said no, so I did not go on.`;
  const acting = scene.tools.filter((one) => isOwn(one) && !asksForConfirmation(one));
  const tool = matchTool(text, acting) ?? acting.find(isConsequential);
  if (tool === undefined) return `${who} said yes, and I have no tool to go on with.`;
  return `${who} said yes. ${yield* callAndTell(scene, tool, text)}`;
}

/** It must end with a call: the one that looks most like an end. */
function* finish(scene: Scene): Script {
  const own = scene.tools.filter((one) => isOwn(one) && !asksForConfirmation(one));
  const tool = own.find(finishes) ?? own[0];
  if (tool !== undefined) yield callOf(scene, tool, topicText(scene));
}

function callOf({ now }: Scene, { name, inputSchema }: LanguageModelV4FunctionTool, text: string): RehearsedCall {
  return { toolName: name, input: exampleInput(inputSchema, { text, now }) };
}

export function topicText({ topic }: Scene): string {
  if (topic.kind === 'chat') return topic.text;
  return topic.events.map((event) => textsIn('text' in event ? event.text : event).join(' ')).join(' ');
}

function isOffered(scene: Scene, name: string): boolean {
  return scene.tools.some((tool) => tool.name === name);
}

function acknowledge(text: string): string {
  return /^\W*(hi|hello|hey|good (morning|afternoon|evening))\b/i.test(text)
    ? 'Hello!'
    : `I have read: "${short(text)}"`;
}

function offer(scene: Scene): string {
  const names = scene.tools.filter(isOwn).map(({ name }) => name);
  return names.length === 0
    ? 'I have no tools of my own.'
    : `Name what you want, and I call one of: ${names.join(', ')}.`;
}

function saying(text: string | undefined): string {
  return text === undefined ? '.' : `, and it says: ${short(text)}`;
}

function isPending({ text }: RehearsedStep): boolean {
  const value = parse(text);
  const status = typeof value === 'object' && value !== null && 'status' in value ? value.status : undefined;
  return status === 'pending' || /\bpending\b|\bwait(s|ing)? for\b/i.test(typeof value === 'string' ? value : '');
}

function isYes(value: unknown): boolean {
  if (typeof value === 'string')
    return /^\s*(y|yes|ok|okay|sure|true|confirm(ed)?|approved?|accept(ed)?|agreed?)\b/i.test(value);
  if (typeof value !== 'object' || value === null) return value === true;
  const said = Object.values(value);
  return !said.includes(false) && said.some(isYes);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const LONGEST = 400;

function short(text: string = 'nothing'): string {
  const characters = [...text];
  return characters.length <= LONGEST ? text : `${characters.slice(0, LONGEST).join('')}…`;
}
